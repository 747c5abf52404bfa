import { ApiError, type CreatedInbox, type Message, type Summary } from './client.js';
import { CommandError, timedOut } from './program.js';
import type { Mayfly } from './service.js';

/** Which mail to wait for, and how long. Each text may be any part, in any case. */
export interface WaitOptions {
  /** Milliseconds; 20,000 by default. */
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

/** The default of {@link WaitOptions.timeout}. */
export const defaultTimeout = 10_000;

/**
 * An inbox, in the order in which its mails arrive. Each mail is handed over once for each thing asked of
 * it: a second waitForCode() returns the next code, and waitForLink() after it the link of the same mail.
 */
export class Inbox {
  readonly id: string;
  readonly email: string;
  readonly #service: Mayfly;
  readonly #created: string;
  #handedOver = false;

  /** @internal */
  constructor(service: Mayfly, created: CreatedInbox) {
    this.#service = service;
    this.#created = created.created_at;
    this.id = created.id;
    this.email = created.email;
  }

  /** Waits for the next one-time code. */
  async waitForCode(options?: WaitOptions): Promise<string> {
    return (await this.#wait(options, '--code')).trimEnd();
  }

  /** Waits for the next link to follow. */
  async waitForLink(options?: WaitOptions): Promise<string> {
    return (await this.#wait(options, '--link')).trimEnd();
  }

  /** Waits for the next mail. */
  async waitForMessage(options?: WaitOptions): Promise<Mail> {
    return JSON.parse(await this.#wait(options, '--json'));
  }

  /** All mails that have come, the newest first. */
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

  async #wait({ timeout = defaultTimeout, ...parts }: WaitOptions = {}, what: string): Promise<string> {
    const args = ['wait', this.id, what, `--timeout=${Math.max(1, timeout)}ms`];
    for (const [name, text] of Object.entries(parts)) {
      args.push(`--${name}=${text ?? ''}`);
    }
    if (!this.#handedOver) {
      args.push(`--since=${this.#created}`); // else it begins with the newest
    }
    try {
      const printed = await this.#service.command(...args);
      this.#handedOver = true;
      return printed;
    } catch (error) {
      if (error instanceof CommandError && error.status === timedOut) {
        const missing = error.message.replace(/; .*/s, '').replaceAll(this.id, this.email);
        throw new Error(`${missing}\n${await this.#arrived()}`);
      }
      throw error;
    }
  }

  async #arrived(): Promise<string> {
    const list = await this.#service.command('messages', this.id).catch(String);
    return list ? `Mails to ${this.email}:\n${list.trimEnd()}` : `No mail has come to ${this.email}.`;
  }
}
