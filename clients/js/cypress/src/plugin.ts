/// <reference types="cypress" preserve="true" />
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, type Inbox, type Mayfly, type WaitOptions } from '@.example/mayfly';

/** Adds Mayfly's tasks to Cypress. Call it in setupNodeEvents. */
export function mayfly(on: Cypress.PluginEvents, config: Cypress.PluginConfigOptions): void {
  let service: Promise<Mayfly> | undefined;
  const inboxes = new Map<string, Inbox>(); // of the test that runs
  const inbox = (id: string) => {
    const found = inboxes.get(id);
    if (!found) {
      throw new Error(`there is no inbox ${id}: cy.inbox() creates one`);
    }
    return found;
  };
  const tasks = {
    async 'mayfly:inbox'() {
      const made = await (await (service ??= connect())).newInbox();
      inboxes.set(made.id, made);
      return { id: made.id, email: made.email };
    },
    'mayfly:code': ({ id, options }: Wait) => inbox(id).waitForCode(options),
    'mayfly:link': ({ id, options }: Wait) => inbox(id).waitForLink(options),
    'mayfly:message': ({ id, options }: Wait) => inbox(id).waitForMessage(options),
    'mayfly:messages': ({ id, options, n }: Wait) => inbox(id).messages(n!, options),
    'mayfly:none': ({ id, options }: Wait) => inbox(id).expectNone(options).then(() => null), // undefined is an error to Cypress
    /** Ends a test: saves the messages of one that failed, by its title, beside its screenshots. */
    async 'mayfly:end'(failed: string | null) {
      for (const inbox of inboxes.values()) {
        if (failed) {
          await save(inbox, join(config.screenshotsFolder || 'cypress/screenshots', failed.replace(/[^\p{L}\p{N} ._-]/gu, '')));
        }
        await inbox.delete();
      }
      inboxes.clear();
      return null;
    },
  };
  on('task', tasks as unknown as Cypress.Tasks);
  on('after:run', async () => (await service)?.stop());
}

interface Wait {
  id: string;
  options?: WaitOptions;
  n?: number;
}

async function save(inbox: Inbox, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const { id } of await inbox.messages()) {
    await writeFile(join(directory, `${id}.eml`), await inbox.raw(id));
    await writeFile(join(directory, `${id}.txt`), await inbox.read(id));
  }
}
