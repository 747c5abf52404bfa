/// <reference types="cypress" preserve="true" />
import type { Mail, WaitOptions } from '@.example/mayfly';

/** An inbox that cy.inbox() made. */
export interface Inbox {
  id: string;
  email: string;
}

declare global {
  namespace Cypress {
    interface Chainable {
      /** Makes an inbox for this test. */
      inbox(): Chainable<Inbox>;
      /** Waits for the next one-time code. */
      waitForCode(inbox: Inbox, options?: WaitOptions): Chainable<string>;
      /** Waits for the next link to follow. */
      waitForLink(inbox: Inbox, options?: WaitOptions): Chainable<string>;
      /** Waits for the next mail. */
      waitForMessage(inbox: Inbox, options?: WaitOptions): Chainable<Mail>;
    }
  }
}

Cypress.Commands.add('inbox', () => cy.task<Inbox>('mayfly:inbox'));

function wait<T>(task: string, { id }: Inbox, options: WaitOptions = {}): Cypress.Chainable<T> {
  // The task itself gives up in time, and says why.
  return cy.task<T>(task, { id, options }, { timeout: (options.timeout ?? 10_000) + 10_000 });
}

Cypress.Commands.add('waitForCode', (inbox, options) => wait('mayfly:code', inbox, options));
Cypress.Commands.add('waitForLink', (inbox, options) => wait('mayfly:link', inbox, options));
Cypress.Commands.add('waitForMessage', (inbox, options) => wait('mayfly:message', inbox, options));

afterEach(function () {
  const test = this.currentTest;
  const failed = test?.state === 'failed' ? test.fullTitle() : null;
  cy.task('mayfly:end', failed, { log: false });
});
