/**
 * One notification to somebody else's server: what is said, how it is signed, and one try to deliver it. Names subject,
 * operation and target, masked and with nothing in it that could deceive; carries no right to decide: the link in it leads
 * to the console, which asks for a sign-in.
 */
import { createHmac } from "node:crypto";
import { type RequestRecord, operationLabel } from "@sallyport/contract";
import { visible } from "@sallyport/service";

export interface WebhookOptions {
  /** Names it in the outbox; keep it when the URL changes. */
  readonly id: string;
  /** Https, or http on this machine. */
  readonly url: string;
  /** `slack`: a message that Slack and those like it show. */
  readonly form: "event" | "slack";
  /** At least 32 characters. Slack does not check signatures; it is sent all the same. */
  readonly secret: string;
}

export interface Notice {
  readonly id: string;
  readonly request: Pick<
    RequestRecord,
    "id" | "subject" | "resource" | "origin" | "destructive" | "subjectChain"
  >;
  readonly createdMs: number;
}

const SECRET_LENGTH_MIN = 32;
const TARGET_SHOWN_MAX = 300;
const TIMEOUT_MS = 10_000;

/** Throws where the webhook could leak or be forged. */
export function checkedWebhook(webhook: WebhookOptions): WebhookOptions {
  const url = URL.canParse(webhook.url) ? new URL(webhook.url) : undefined;
  const isLocal = url?.hostname === "127.0.0.1" || url?.hostname === "[::1]" || url?.hostname === "localhost";
  if (url === undefined || !(url.protocol === "https:" || (url.protocol === "http:" && isLocal)))
    throw new Error("a webhook needs an https URL, or an http URL on this machine");
  if (webhook.secret.length < SECRET_LENGTH_MIN)
    throw new Error(`the secret of a webhook needs at least ${SECRET_LENGTH_MIN} characters`);
  return webhook;
}

export function noticeBody({ form }: WebhookOptions, notice: Notice, origin: string): string {
  return JSON.stringify(form === "slack" ? slackMessage(notice, origin) : eventMessage(notice, origin));
}

function eventMessage({ id, request, createdMs }: Notice, origin: string): object {
  const { subject, resource, origin: from } = request;
  return {
    type: "permission.requested",
    id,
    timestamp: new Date(createdMs).toISOString(),
    data: {
      request_id: request.id,
      subject: { type: subject.type, name: subject.name },
      resource: { type: resource.type, operation: resource.operation, target: resource.target },
      has_session_key: (from.sessionKey ?? null) !== null,
      destructive: request.destructive,
      url: linkTo(request.id, origin),
    },
  };
}

/** WHY plain text for what others wrote: in it nothing is a link, a mention or a format. */
function slackMessage({ request }: Notice, origin: string): object {
  const { subject, resource } = request;
  const label = operationLabel({ resourceType: resource.type, operation: resource.operation } as never);
  const target = shortened(visible(resource.target));
  const who = `${subject.type} ${subject.name}`;
  return {
    text: escaped(`${who} asks for: ${label} ${target}`),
    blocks: [
      { type: "header", text: { type: "plain_text", text: `${label}: approval needed`, emoji: false } },
      {
        type: "section",
        fields: [
          { type: "plain_text", text: `Subject: ${who}`, emoji: false },
          { type: "plain_text", text: `Operation: ${label}`, emoji: false },
          { type: "plain_text", text: `Target: ${target}`, emoji: false },
          { type: "plain_text", text: `Destructive: ${request.destructive ? "yes" : "no"}`, emoji: false },
        ],
      },
      {
        type: "actions",
        elements: [
          {
            type: "button",
            text: { type: "plain_text", text: "Open the request", emoji: false },
            url: linkTo(request.id, origin),
          },
        ],
      },
    ],
  };
}

const linkTo = (requestId: string, origin: string): string =>
  `${origin}/requests/${encodeURIComponent(requestId)}`;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function shortened(target: string): string {
  if (target.length <= TARGET_SHOWN_MAX) return target;
  const half = TARGET_SHOWN_MAX / 2;
  return `${target.slice(0, half)} … ${target.slice(-half)}`;
}

/** Over the id, the time and the body, as Standard Webhooks has it. */
export function signatureOf(secret: string, id: string, seconds: number, body: string): string {
  return `v1,${createHmac("sha256", secret).update(`${id}.${seconds}.${body}`).digest("base64")}`;
}

/** `null`: it was taken. */
export async function deliver(
  webhook: WebhookOptions,
  id: string,
  body: string,
  nowMs: number,
): Promise<string | null> {
  const seconds = Math.floor(nowMs / 1000);
  try {
    const response = await fetch(webhook.url, {
      method: "POST",
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": String(seconds),
        "webhook-signature": signatureOf(webhook.secret, id, seconds, body),
      },
      body,
    });
    await response.body?.cancel();
    return response.ok ? null : `the server answered ${response.status}`;
  } catch {
    return "the server could not be reached";
  }
}
