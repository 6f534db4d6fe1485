/** What was written into a form. A field that is missing, or holds a file, is empty. */

export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value.trim() : "";
}
