import { Client, type NewInbox } from './client.js';
import { Inbox } from './inbox.js';
import { run, startService } from './program.js';
import { defaultTimeout } from './timeout.js';

/** How to reach a service. What is left out comes from the environment, if that has the same service or names none. */
export interface Connection {
  /** As MAYFLY_BASE_URL. */
  baseUrl?: string;
  /** As MAYFLY_API_KEY. */
  apiKey?: string;
  /** host:port, as MAYFLY_SMTP. */
  smtp?: string;
  /** Sends the key over plain HTTP even to another machine. */
  insecure?: boolean;
  /** Milliseconds that a wait takes unless it has a timeout of its own; by default as long as the test runner allows. */
  timeout?: number | (() => number);
}

/** A mail service with its inboxes. */
export class Mayfly {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The REST API. */
  readonly client: Client;
  /** @internal */
  readonly knownSmtp: string | undefined;
  readonly #insecure: boolean;
  readonly #state: string | undefined;
  readonly #stop: () => Promise<void>;
  readonly #timeout: number | (() => number);

  /** @internal */
  constructor(connection: Connection, state?: string, stop = async () => {}) {
    const { baseUrl, apiKey } = connection;
    if (!baseUrl || !apiKey) {
      const missing = baseUrl ? `no API key for ${baseUrl}: pass one, or` : 'which service? start() one, or';
      throw new Error(`${missing} set MAYFLY_BASE_URL and MAYFLY_API_KEY`);
    }
    this.baseUrl = baseUrl;
    this.apiKey = apiKey;
    this.knownSmtp = connection.smtp;
    this.#insecure = connection.insecure ?? false;
    this.client = new Client(baseUrl, apiKey, { insecure: this.#insecure });
    this.#state = state;
    this.#stop = stop;
    this.#timeout = connection.timeout ?? defaultTimeout;
  }

  /** Milliseconds that a wait takes unless it has a timeout of its own. */
  timeout(): number {
    return typeof this.#timeout === 'number' ? this.#timeout : this.#timeout();
  }

  /** Where the service accepts mail, as host:port. */
  get smtp(): string {
    if (!this.knownSmtp) {
      throw new Error(`where does ${this.baseUrl} accept mail? set MAYFLY_SMTP to its host:port`);
    }
    return this.knownSmtp;
  }

  get smtpHost(): string {
    return this.smtp.slice(0, this.smtp.lastIndexOf(':'));
  }

  get smtpPort(): number {
    return Number(this.smtp.slice(this.smtp.lastIndexOf(':') + 1));
  }

  /** Makes an inbox. */
  async newInbox(options: NewInbox = {}): Promise<Inbox> {
    return new Inbox(this, await this.client.createInbox(options));
  }

  /** Runs a command of mayfly on this service and returns what it printed. */
  command(...args: string[]): Promise<string> {
    if (this.#insecure) {
      args.unshift('--insecure');
    }
    return run(args, {
      MAYFLY_BASE_URL: this.baseUrl, MAYFLY_API_KEY: this.apiKey, MAYFLY_SMTP: this.knownSmtp ?? '', ...(this.#state && { MAYFLY_STATE_DIR: this.#state }),
    });
  }

  /** Ends a service that was started for this process, and with it all its mail; leaves any other running. */
  stop(): Promise<void> {
    return this.#stop();
  }
}

/**
 * Starts a private service, which accepts mail to any address and any SMTP login. It stops with this
 * process, even if that is killed.
 */
export async function start(options: Pick<Connection, 'timeout'> = {}): Promise<Mayfly> {
  const { environment, stop } = await startService();
  return new Mayfly({ ...options, ...fromEnvironment(environment) }, environment.MAYFLY_STATE_DIR, stop);
}

/**
 * Connects to a service: the one of the options, else the one of the environment, which `mayfly exec`
 * sets, else a private one that it starts.
 */
export async function connect(options: Connection = {}): Promise<Mayfly> {
  const named = fromEnvironment(process.env);
  const other = options.baseUrl && named.baseUrl && serviceOf(options.baseUrl) !== serviceOf(named.baseUrl);
  const { baseUrl, apiKey, smtp } = other ? {} : named; // they belong together: a key goes to no other service
  const connection = { ...options, baseUrl: options.baseUrl || baseUrl, apiKey: options.apiKey || apiKey, smtp: options.smtp || smtp };
  return connection.baseUrl ? new Mayfly(connection) : start(options);
}

/** All ways to write a base URL made one. */
function serviceOf(baseUrl: string): string {
  try {
    return new URL(baseUrl).href.replace(/\/+$/, '');
  } catch {
    return baseUrl;
  }
}

function fromEnvironment(environment: Record<string, string | undefined>): Connection {
  return { baseUrl: environment.MAYFLY_BASE_URL, apiKey: environment.MAYFLY_API_KEY, smtp: environment.MAYFLY_SMTP };
}
