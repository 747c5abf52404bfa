import type { Inbox, Mail } from './inbox.js';
import type { Mayfly } from './service.js';

type Returned = (what: string, id: string) => boolean;

/** What arrived in an inbox instead of what a test waits for, below the line with the reason. */
export async function instead(service: Mayfly, inbox: Inbox, returned: Returned): Promise<string> {
  try {
    const summaries = (await inbox.messages()).slice(0, 5);
    const mails = summaries.map(async ({ id }) => JSON.parse(await service.command('read', inbox.id, id, '--json')) as Mail);
    return brief(await Promise.all(mails), returned);
  } catch (error) {
    return `; what arrived instead cannot be read: ${(error as Error).message}`;
  }
}

/** Mails as lines of a report, each with what was found in it and how it begins. */
export const brief = (mails: Mail[], returned: Returned): string => table(mails.map((mail) => row(mail, returned)));

/** A message as cells of a line, and the lines below them. */
type Row = { cells: string[]; below: string[] };

function row({ message, code, link, rendered }: Mail, returned: Returned): Row {
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

/** Text from a mail, safe for a terminal. */
function clean(text: string): string {
  return text.replace(/\p{C}/gu, '\uFFFD');
}
