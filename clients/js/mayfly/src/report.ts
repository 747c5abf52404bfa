import type { Inbox, Mail } from './inbox.js';
import type { Mayfly } from './service.js';

/** What came to an inbox instead of what a test waits for, to go on after a first line. */
export async function report(service: Mayfly, inbox: Inbox, returned: (what: string, id: string) => boolean): Promise<string> {
  try {
    const summaries = await inbox.messages();
    const shown = summaries.slice(0, 5).map(async ({ id }) => JSON.parse(await service.command('read', inbox.id, id, '--json')) as Mail);
    const rows = table((await Promise.all(shown)).map((mail) => row(mail, returned)));
    const more = summaries.length - shown.length;
    const others = await elsewhere(service, inbox);
    if (!rows && !others) {
      return `, nor any mail to any address: does the application send it to ${service.knownSmtp ?? 'this service'}?`;
    }
    return (
      (rows && `; ${summaries.length} message${summaries.length === 1 ? '' : 's'} arrived:${rows}`) +
      (more > 0 ? `\n  and ${more} before` : '') +
      (others && `\nmail arrived at other addresses: ${others}`)
    );
  } catch (error) {
    return `; what arrived instead cannot be read: ${(error as Error).message}`;
  }
}

/** A mail as cells of a line, and what stands below them. */
type Row = { cells: string[]; below: string[] };

function row({ message, code, link, rendered }: Mail, returned: (what: string, id: string) => boolean): Row {
  const before = (what: string) => (returned(what, message.id) ? ' (was returned before)' : '');
  const found = Object.entries({ code, link }).flatMap(([what, value]) => (value === null ? [] : `${what} ${clean(value)}${before(what)}`));
  const text = rendered.split('\n').flatMap((line) => line.trim() || []);
  const from = message.from_name ? `${message.from_name} <${message.from}>` : message.from;
  const age = (Date.now() - Date.parse(message.received_at)) / 1000;
  return {
    cells: [`${Math.max(0, age).toFixed(1)} s ago`, clean(from), clean(message.subject) + before('message')],
    below: [...found, ...text.slice(0, 3).map((line) => `| ${line}`), ...(text.length > 3 ? ['| …'] : [])],
  };
}

function table(rows: Row[]): string {
  const widths = [0, 1].map((column) => Math.max(0, ...rows.map(({ cells }) => cells[column].length)));
  return rows
    .map(({ cells: [age, from, subject], below }) => {
      const line = `\n  ${age.padStart(widths[0])}  ${from.padEnd(widths[1])}  ${subject}`;
      return line + below.map((text) => `\n  ${' '.repeat(widths[0])}  ${text}`).join('');
    })
    .join('');
}

/** Other addresses that have mail, where the service lists them. */
async function elsewhere({ client }: Mayfly, { email }: Inbox): Promise<string> {
  const { inboxes } = await client.listInboxes().catch(() => ({ inboxes: [] }));
  const others = inboxes.filter((other) => other.message_count && other.email !== email);
  return others.slice(0, 10).map((other) => clean(other.email)).join(', ');
}

/** Text from a mail, safe for a terminal. */
function clean(text: string): string {
  return text.replace(/\p{C}/gu, '\uFFFD');
}
