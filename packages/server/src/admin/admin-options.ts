/** What a host gives a server that persons may use. Trusted: every field is the host's word. */
import type { GuideView, ManifestView } from "@sallyport/contract/admin";
import type { AccessService } from "@sallyport/service";
import type { WebhookOptions } from "../notify/webhook.ts";
import type { AttemptLimits } from "../sign-in/attempt-limit.ts";
import type { OidcOptions } from "../sign-in/oidc.ts";
import type { SignInTimes } from "../sign-in/sign-in-book.ts";
import type { FollowerLimits } from "./sse.ts";

export interface AdminOptions {
  readonly service: AccessService;
  /** Of the product, for people. */
  readonly version: string;
  /** The folder of the console as it was built; left out: no console. */
  readonly consoleFolder?: string | undefined;
  /** What registered subjects declare. */
  readonly manifests?: (() => readonly ManifestView[]) | undefined;
  /** How far a guided example has come; left out: there is none. */
  readonly guide?: (() => GuideView) | undefined;
  readonly oidc?: OidcOptions | undefined;
  readonly webhooks?: readonly WebhookOptions[] | undefined;
  /** What a monitor sends to read `/metrics`; left out: figures are given on this machine only. */
  readonly metricsToken?: string | undefined;
  readonly signInTimes?: Partial<SignInTimes> | undefined;
  /** How often one person may call. */
  readonly calls?: Partial<AttemptLimits> | undefined;
  readonly followers?: Partial<FollowerLimits> | undefined;
}
