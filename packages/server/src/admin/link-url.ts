/** Where a one-time link leads. WHY behind the `#`: no server and no log on the way sees it. */
export const linkUrl = (origin: string, token: string): string => `${origin}/#token=${token}`;
