import { ApiError, type CreatedInbox, type Message, type Summary } from './client.js';
import { CommandError, timedOut } from './program.js';
import { report } from './report.js';
import type { Mayfly } from './service.js';

/** Which mail to wait for, and how long. Each text may be any part, in any case. */
export interface WaitOptions {
  /** Milliseconds; by default as long as the test runner allows, and at most 10,000. */
  timeout?: number;
  /** In the sender's name or address. */
  from?: string;
  subject?: string;
  body?: string;
}

/** A mail and what Mayfly finds in it. */
export interface Mail {
  message: Message;
  /** As text to read. */
  rendered: string;
  code: string | null;
  link: string | null;
  links: { n: number; text: string; url: string }[];
  checks: { id: string; level: string; message: string; where?: string }[];
}

/**
 * An inbox, in the order in which its messages arrive. Each is handed over once for each thing asked of
 * it: a second waitForCode() returns the next code, and waitForLink() after it the link of the same mail.
 */
export class Inbox {
  readonly id: string;
  readonly email: string;
  readonly #service: Mayfly;
  readonly #created: string;
  readonly #returned = new Set<string>(); // what was asked, and the ID of the message

  /** @internal */
  constructor(service: Mayfly, created: CreatedInbox) {
    this.#service = service;
    this.#created = created.created_at;
    this.id = created.id;
    this.email = created.email;
  }

  /** Waits for the next one-time code. */
  async waitForCode(options?: WaitOptions): Promise<string> {
    return (await this.#wait('code', options)).code!;
  }

  /** Waits for the next link to follow. */
  async waitForLink(options?: WaitOptions): Promise<string> {
    return (await this.#wait('link', options)).link!;
  }

  /** Waits for the next mail. */
  waitForMessage(options?: WaitOptions): Promise<Mail> {
    return this.#wait('message', options);
  }

  /** All messages that have come, the newest first. */
  async messages(): Promise<Summary[]> {
    return (await this.#service.client.listMessages(this.id)).messages;
  }

  /** A mail as text to read. */
  read(message: string): Promise<string> {
    return this.#service.command('read', this.id, message);
  }

  /** A mail as it was received. */
  raw(message: string): Promise<Uint8Array> {
    return this.#service.client.getRawMessage(this.id, message);
  }

  /** Deletes the inbox, if it is still there. */
  async delete(): Promise<void> {
    try {
      await this.#service.client.deleteInbox(this.id);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) {
        throw error;
      }
    }
  }

  async #wait(what: 'code' | 'link' | 'message', { timeout = this.#service.timeout(), ...parts }: WaitOptions = {}): Promise<Mail> {
    const filters = Object.entries(parts).filter(([, text]) => text);
    const args = ['wait', this.id, '--json', `--timeout=${Math.max(1, Math.round(timeout))}ms`];
    args.push(...filters.map(([name, text]) => `--${name}=${text}`));
    if (what !== 'message') {
      args.push(`--${what}`);
    }
    if (!this.#returned.size) {
      args.push(`--since=${this.#created}`); // else it begins with the newest
    }
    try {
      const mail: Mail = JSON.parse(await this.#service.command(...args));
      this.#returned.add(what + mail.message.id);
      return mail;
    } catch (error) {
      if (!(error instanceof CommandError && error.status === timedOut)) {
        throw error;
      }
    }
    const where = filters.map(([name, text]) => `${name} “${text}”`).join(', ');
    const asked = (what === 'message' ? '' : ` with a ${what}`) + (where && ` (${where})`);
    const missing = `no message${asked} arrived at ${this.email} within ${Number((timeout / 1000).toPrecision(2))} s`;
    throw new Error(missing + (await report(this.#service, this, (what, id) => this.#returned.has(what + id))));
  }
}
