// @ts-check
/** Purpose: calls over one kept connection, as a page of the server or a remote host would make them. */
import { Agent, request } from "node:http";

/** @typedef {{ status: number, json: any, cookies: readonly string[] }} Answer */

export class Caller {
  #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  /** @type {Record<string, string>} */
  headers;

  /** @param {string} origin @param {Record<string, string>} [headers] */
  constructor(origin, headers = {}) {
    this.origin = origin;
    this.headers = { "content-type": "application/json", origin, ...headers };
    const { hostname, port } = new URL(origin);
    this.place = { hostname, port };
  }

  /** @param {string} token */
  async signIn(token) {
    const { cookies, json } = await this.post("/v1/sign-in/link", JSON.stringify({ token }));
    this.headers = {
      ...this.headers,
      cookie: cookies[0]?.split(";")[0] ?? "",
      "x-csrf-token": json["csrf_token"],
    };
  }

  /** @param {string} path @param {string} body @param {Record<string, string>} [more] */
  async post(path, body, more = {}) {
    // WHY again: the server ends a connection that was idle for a while, perhaps in the moment in which it is used again.
    const answer = (await this.#post(path, body, more)) ?? (await this.#post(path, body, more));
    if (answer === null) throw new Error(`${path}: the connection ended twice`);
    return answer;
  }

  /** `null`: the connection had ended before. @param {string} path @param {string} body @param {Record<string, string>} more */
  #post(path, body, more) {
    const length = { "content-length": String(Buffer.byteLength(body)) };
    const options = { agent: this.#agent, ...this.place, path, method: "POST" };
    return new Promise((/** @type {(answer: Answer | null) => void} */ resolve, reject) => {
      const call = request({ ...options, headers: { ...this.headers, ...length, ...more } }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part) => (text += part));
        response.on("end", () => {
          const { statusCode: status = 0, headers } = response;
          if (status !== 200) reject(new Error(`${path} answered ${status}: ${text}`));
          else resolve({ status, json: JSON.parse(text), cookies: headers["set-cookie"] ?? [] });
        });
      });
      call.once("error", (/** @type {NodeJS.ErrnoException} */ error) => {
        if (call.reusedSocket && error.code === "ECONNRESET") resolve(null);
        else reject(error);
      });
      call.end(body);
    });
  }

  close() {
    this.#agent.destroy();
  }
}
