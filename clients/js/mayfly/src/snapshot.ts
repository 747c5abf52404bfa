import { dirname, join } from 'node:path';
import type { Inbox, SnapshotOptions } from './inbox.js';

/** What a matcher is told of its test. */
interface Context {
  testPath?: string;
  isNot?: boolean;
}

/** A matcher that compares the next message of an inbox with mails/NAME.txt next to the test. With `not` it always fails. */
export async function toMatchMailSnapshot(
  this: Context, inbox: Inbox, name: string, options?: SnapshotOptions,
): Promise<{ pass: boolean; message: () => string }> {
  try {
    await inbox.snapshot(name, { ...(this.testPath && { dir: join(dirname(this.testPath), 'mails') }), ...options });
    return { pass: true, message: () => `the message is as in its snapshot ${name}` };
  } catch (error) {
    return { pass: Boolean(this.isNot), message: () => (error as Error).message };
  }
}
