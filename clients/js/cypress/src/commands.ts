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
      /** Waits for the next n mails, then two seconds for one more, which is an error. */
      messages(inbox: Inbox, n: number, options?: WaitOptions): Chainable<Mail[]>;
      /** Waits, and fails if a message arrives that was not returned before. */
      expectNone(inbox: Inbox, options?: WaitOptions): Chainable<null>;
    }
  }
}

Cypress.Commands.add('inbox', () => cy.task<Inbox>('mayfly:inbox'));

function wait<T>(task: string, { id }: Inbox, options: WaitOptions = {}, n?: number): Cypress.Chainable<T> {
  // The task itself gives up in time, and says why.
  return cy.task<T>(task, { id, options, n }, { timeout: (options.timeout ?? 10_000) + 10_000 });
}

Cypress.Commands.add('waitForCode', (inbox, options) => wait('mayfly:code', inbox, options));
Cypress.Commands.add('waitForLink', (inbox, options) => wait('mayfly:link', inbox, options));
Cypress.Commands.add('waitForMessage', (inbox, options) => wait('mayfly:message', inbox, options));
Cypress.Commands.add('messages', (inbox, n, options) => wait('mayfly:messages', inbox, options, n));
Cypress.Commands.add('expectNone', (inbox, options) => wait('mayfly:none', inbox, options));

afterEach(function () {
  const test = this.currentTest;
  const failed = test?.state === 'failed' ? test.fullTitle() : null;
  cy.task('mayfly:end', failed, { log: false });
});
