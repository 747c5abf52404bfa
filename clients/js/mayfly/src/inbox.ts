import { ApiError, type CreatedInbox, type Message, type Summary } from './client.js';
import { CommandError, timedOut } from './program.js';
import { brief, instead } from './report.js';
import type { Mayfly } from './service.js';

/** Which message to wait for, and how long. Each text may be any part, in upper or lower case. */
export interface WaitOptions {
  /** Milliseconds; by default as long as the test runner allows, and at most 10,000. */
  timeout?: number;
  /** In the sender's name or address. */
  from?: string;
  subject?: string;
  body?: string;
}

/** Which message to compare with a snapshot, and where the snapshot is. */
export interface SnapshotOptions extends WaitOptions {
  /** The directory of the snapshots; by default `mails`, for a matcher next to the test. */
  dir?: string;
}

/** A message, with its detected code and links and the findings of the checks. */
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
    return (await this.#wait('code', options))[0].code!;
  }

  /** Waits for the next link to follow. */
  async waitForLink(options?: WaitOptions): Promise<string> {
    return (await this.#wait('link', options))[0].link!;
  }

  /** Waits for the next mail. */
  async waitForMessage(options?: WaitOptions): Promise<Mail> {
    return (await this.#wait('message', options))[0];
  }

  /** All messages that have come, the newest first. */
  messages(): Promise<Summary[]>;
  /** Waits for the next n mails, then two seconds for one more, which is an error. */
  messages(n: number, options?: WaitOptions): Promise<Mail[]>;
  async messages(n?: number, options?: WaitOptions): Promise<Summary[] | Mail[]> {
    if (n === undefined) {
      return (await this.#service.client.listMessages(this.id)).messages;
    }
    const time = this.#service.timeout();
    const settle = Math.min(2000, time / 2);
    return this.#wait('message', { timeout: time - settle, ...options }, `--exactly=${n}`, `--settle=${milliseconds(settle)}`);
  }

  /** Waits, by default for five seconds, and fails if a message arrives that was not returned before. */
  async expectNone(options?: WaitOptions): Promise<void> {
    await this.#wait('message', { timeout: Math.min(5000, this.#service.timeout()), ...options }, '--none');
  }

  /**
   * Compares the next message with the file NAME.txt in a directory. A snapshot that does not exist is written, which is an error where
   * the variable CI is set. With the variable MAYFLY_UPDATE it is replaced.
   */
  async snapshot(name: string, { dir = 'mails', ...options }: SnapshotOptions = {}): Promise<void> {
    const { message } = await this.waitForMessage(options);
    const update = process.env.MAYFLY_UPDATE ? ['--update'] : [];
    try {
      await this.#service.command('snap', name, this.id, message.id, `--dir=${dir}`, ...update);
    } catch (error) {
      if (!(error instanceof CommandError)) {
        throw error;
      }
      const said = error.message.replace('`mayfly snap --update` accepts it', 'MAYFLY_UPDATE=1 accepts it');
      throw new Error(`${said}\n${error.stdout}`.trimEnd());
    }
  }

  /** A message as text to read. */
  read(message: string): Promise<string> {
    return this.#service.command('read', this.id, message);
  }

  /** A message as it was received. */
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

  async #wait(what: 'code' | 'link' | 'message', { timeout = this.#service.timeout(), ...parts }: WaitOptions = {}, ...flags: string[]): Promise<Mail[]> {
    const args = ['wait', this.id, '--json', `--timeout=${milliseconds(timeout)}`, ...flags];
    args.push(...Object.entries(parts).flatMap(([name, text]) => (text ? `--${name}=${text}` : [])));
    if (what !== 'message') {
      args.push(`--${what}`);
    }
    if (!this.#returned.size) {
      args.push(`--since=${this.#created}`); // else it begins with the newest
    }
    const returned = (what: string, id: string) => this.#returned.has(what + id);
    try {
      const mails = printed(await this.#service.command(...args));
      mails.forEach(({ message }) => this.#returned.add(what + message.id));
      return mails;
    } catch (error) {
      const more = error instanceof CommandError ? printed(error.stdout).slice(-1) : []; // than none, or than so many
      if (!(error instanceof CommandError && (error.status === timedOut || more.length))) {
        throw error;
      }
      const said = error.message.split('\n').at(-1)!.replace(' (--again prints the newest)', '');
      throw new Error(said + (error.status === timedOut ? await instead(this.#service, this, returned) : brief(more, returned)));
    }
  }
}

const milliseconds = (time: number) => `${Math.max(1, Math.round(time))}ms`;

/** The messages that a command has printed, one per line. */
function printed(stdout: string): Mail[] {
  return stdout.split('\n').flatMap((line) => (line ? (JSON.parse(line) as Mail) : []));
}
