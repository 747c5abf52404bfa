import type { components, operations } from './openapi.js';

type Schemas = components['schemas'];
export type NewInbox = Schemas['NewInbox'];
export type CreatedInbox = Schemas['CreatedInbox'];
export type InboxInfo = Schemas['Inbox'];
export type InboxList = Schemas['InboxList'];
export type Summary = Schemas['Summary'];
export type MessageList = Schemas['MessageList'];
export type Message = Schemas['Message'];
export type Attachment = Schemas['Attachment'];
export type Delivery = Schemas['Delivery'];
export type Status = Schemas['Status'];

/** A page of a list: at most `limit`, those older than the one with the ID `after`. */
export type Page = NonNullable<operations['listMessages']['parameters']['query']>;

/** An answer of the service that is an error. */
export class ApiError extends Error {
  override name = 'ApiError';
  constructor(
    /** The HTTP status. */
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** The REST API of a service: a method for each operation of its OpenAPI description, without the webhook. */
export class Client implements Record<Exclude<keyof operations, 'messageReceived'>, (...args: never[]) => Promise<unknown>> {
  readonly #base: string;
  readonly #key: string;

  /** With `insecure`, the key is sent over plain HTTP even to another machine. */
  constructor(baseUrl: string, apiKey: string, options: { insecure?: boolean } = {}) {
    const { protocol, hostname } = new URL(baseUrl);
    if (protocol !== 'https:' && !loopback.test(hostname) && !options.insecure) {
      throw new Error(`the key would be sent unencrypted to ${hostname}: use https, or the option insecure`);
    }
    this.#base = baseUrl.replace(/\/+$/, '');
    this.#key = apiKey;
  }

  createInbox(inbox: NewInbox = {}): Promise<CreatedInbox> {
    return this.#json('/v1/inboxes', {
      method: 'POST', body: JSON.stringify(inbox), headers: { 'Content-Type': 'application/json' },
    });
  }

  /** The newest inbox comes first; a page has at most 1,000. */
  listInboxes(page: Page = {}): Promise<InboxList> {
    return this.#json(`/v1/inboxes?${query(page)}`);
  }

  /** The inbox that mail to an address goes to. */
  getInboxAt(address: string): Promise<InboxInfo> {
    return this.#json(`/v1/inboxes?${new URLSearchParams({ address })}`);
  }

  getInbox(inbox: string): Promise<InboxInfo> {
    return this.#json(path`/v1/inboxes/${inbox}`);
  }

  deleteInbox(inbox: string): Promise<Schemas['Deleted']> {
    return this.#json(path`/v1/inboxes/${inbox}`, { method: 'DELETE' });
  }

  /** The inbox ends `ttl` seconds from now, within the plan of the key. */
  extendInbox(inbox: string, ttl: number): Promise<InboxInfo> {
    return this.#json(path`/v1/inboxes/${inbox}`, {
      method: 'PATCH', body: JSON.stringify({ ttl }), headers: { 'Content-Type': 'application/json' },
    });
  }

  /** The newest message comes first. */
  listMessages(inbox: string, page: Page = {}): Promise<MessageList> {
    return this.#json(path`/v1/inboxes/${inbox}/messages` + `?${query(page)}`);
  }

  getMessage(inbox: string, message: string): Promise<Message> {
    return this.#json(path`/v1/inboxes/${inbox}/messages/${message}`);
  }

  deleteMessage(inbox: string, message: string): Promise<Schemas['Deleted']> {
    return this.#json(path`/v1/inboxes/${inbox}/messages/${message}`, { method: 'DELETE' });
  }

  deleteMessages(inbox: string): Promise<Schemas['Deleted']> {
    return this.#json(path`/v1/inboxes/${inbox}/messages`, { method: 'DELETE' });
  }

  /** The message as it was received. */
  async getRawMessage(inbox: string, message: string): Promise<Uint8Array> {
    return this.#bytes(path`/v1/inboxes/${inbox}/messages/${message}`, { headers: { Accept: 'message/rfc822' } });
  }

  /** What the sender said in its SMTP session, and which recipients were refused. */
  getDelivery(inbox: string, message: string): Promise<Delivery> {
    return this.#json(path`/v1/inboxes/${inbox}/messages/${message}/delivery`);
  }

  /** What connected to SMTP in the last hour, the newest first. */
  listSessions(): Promise<Schemas['SessionList']> {
    return this.#json('/v1/sessions');
  }

  /** What the clients of the key keep of its inboxes, as bytes in base64. */
  listStates(): Promise<Schemas['States']> {
    return this.#json('/v1/states');
  }

  /** Replaces what is kept of an inbox, unless another client has changed it since it was read. */
  setState(inbox: string, change: Schemas['StateChange']): Promise<unknown> {
    return this.#json(path`/v1/inboxes/${inbox}/state`, {
      method: 'PUT', body: JSON.stringify(change), headers: { 'Content-Type': 'application/json' },
    });
  }

  async getAttachment(inbox: string, message: string, attachment: string): Promise<Uint8Array> {
    return this.#bytes(path`/v1/inboxes/${inbox}/messages/${message}/attachments/${attachment}`);
  }

  /** Sends a message on by the service's relay, if it has one, to addresses that the operator has allowed. */
  releaseMessage(inbox: string, message: string, to: string[]): Promise<Schemas['Release']> {
    return this.#json(path`/v1/inboxes/${inbox}/messages/${message}/release`, {
      method: 'POST', body: JSON.stringify({ to }), headers: { 'Content-Type': 'application/json' },
    });
  }

  /** The OpenAPI description of the service. */
  async getDescription(): Promise<string> {
    return (await this.#send('/openapi.yaml')).text();
  }

  getHealth(): Promise<Status> {
    return this.#json('/healthz');
  }

  getReadiness(): Promise<Status> {
    return this.#json('/readyz');
  }

  async #json<T>(path: string, init?: RequestInit): Promise<T> {
    return (await this.#send(path, init)).json() as Promise<T>;
  }

  async #bytes(path: string, init?: RequestInit): Promise<Uint8Array> {
    return new Uint8Array(await (await this.#send(path, init)).arrayBuffer());
  }

  async #send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...init.headers, 'X-API-Key': this.#key };
    const response = await fetch(this.#base + path, { ...init, headers, redirect: 'error' });
    if (!response.ok) {
      const body = (await response.json().catch(() => ({}))) as Partial<Schemas['Error']>;
      throw new ApiError(response.status, body.error?.message ?? `the service answered ${response.status}`);
    }
    return response;
  }
}

function query(page: Page): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(page)) {
    query.set(name, String(value));
  }
  return query;
}

/** A path in which each value is one segment. */
function path(segments: TemplateStringsArray, ...values: string[]): string {
  return String.raw(segments, ...values.map(encodeURIComponent));
}
