/**
 * The part of the administration API that is about people and what they hand out: accounts, tokens of their own,
 * credentials of remote hosts. Over HTTP like the rest; a secret that is told once is given on and kept nowhere.
 */
import {
  type AccountAccess,
  type AdminPageRequest,
  type CredentialWords,
  type Invite,
  type NewAccount,
  type OwnPassword,
  type SignInLinkWords,
  type TokenWords,
  accountAccessWire,
  accountPageWire,
  accountWire,
  credentialPageWire,
  credentialWordsWire,
  disableAccountWire,
  doneWire,
  inviteWire,
  invitedWire,
  madeTokenWire,
  newAccountWire,
  newPasswordWire,
  ownPasswordWire,
  signInLinkWire,
  signInLinkWordsWire,
  tokenPageWire,
  tokenWordsWire,
} from "@sallyport/contract/admin";
import { issuedCredentialWire } from "@sallyport/contract/remote";
import { HttpInboxClient } from "./inbox-client.ts";

export const at = (id: string): string => encodeURIComponent(id);
export const because = (reason: string | undefined): object => (reason === undefined ? {} : { reason });

export class HttpPeopleClient extends HttpInboxClient {
  async setOwnPassword(words: OwnPassword): Promise<void> {
    await this.caller.post(doneWire, "/session/password", ownPasswordWire.format(words));
    this.caller.remember(null);
  }

  createSignInLink(words: SignInLinkWords) {
    return this.caller.post(signInLinkWire, "/sign-in/links", signInLinkWordsWire.format(words));
  }

  accounts(page: AdminPageRequest = {}) {
    return this.caller.list(accountPageWire, "/accounts", { ...page });
  }

  createAccount(words: NewAccount) {
    return this.caller.post(accountWire, "/accounts", newAccountWire.format(words));
  }

  inviteAccount(words: Invite) {
    return this.caller.post(invitedWire, "/accounts/invite", inviteWire.format(words));
  }

  createAccountLink(accountId: string) {
    return this.caller.post(invitedWire, `/accounts/${at(accountId)}/link`);
  }

  setAccountAccess(accountId: string, words: AccountAccess) {
    return this.caller.post(
      accountWire,
      `/accounts/${at(accountId)}/access`,
      accountAccessWire.format(words),
    );
  }

  endSignIns(accountId: string, reason?: string) {
    return this.caller.post(accountWire, `/accounts/${at(accountId)}/end-sign-ins`, because(reason));
  }

  setPassword(accountId: string, password: string) {
    const words = newPasswordWire.format({ password });
    return this.caller.post(accountWire, `/accounts/${at(accountId)}/password`, words);
  }

  disableAccount(
    accountId: string,
    words: { readonly disabled: boolean; readonly reason?: string } = { disabled: true },
  ) {
    const body = disableAccountWire.format(words);
    return this.caller.post(accountWire, `/accounts/${at(accountId)}/disable`, body);
  }

  tokens(page: AdminPageRequest = {}) {
    return this.caller.list(tokenPageWire, "/person-tokens", { ...page });
  }

  createToken(words: TokenWords) {
    return this.caller.post(madeTokenWire, "/person-tokens", tokenWordsWire.format(words));
  }

  async revokeToken(id: string, reason?: string): Promise<void> {
    await this.caller.post(doneWire, `/person-tokens/${at(id)}/revoke`, because(reason));
  }

  credentials(page: AdminPageRequest = {}) {
    return this.caller.list(credentialPageWire, "/runtime-credentials", { ...page });
  }

  issueCredential(words: CredentialWords) {
    return this.caller.post(issuedCredentialWire, "/runtime-credentials", credentialWordsWire.format(words));
  }

  async revokeCredential(credentialId: string, reason?: string): Promise<void> {
    await this.caller.post(doneWire, `/runtime-credentials/${at(credentialId)}/revoke`, because(reason));
  }
}
