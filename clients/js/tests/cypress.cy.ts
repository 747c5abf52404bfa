// Checked against the types of Cypress, not run.
import '@.example/cypress';

it('signs up', () => {
  cy.inbox().then((inbox) => {
    cy.visit('/');
    cy.get('[name=address]').type(inbox.email);
    cy.contains('Sign up').click();
    cy.waitForCode(inbox).then((code) => cy.get('[name=code]').type(code));
    cy.waitForLink(inbox, { timeout: 5000 }).then((link) => cy.visit(link));
    cy.messages(inbox, 1).its(0).its('code').should('be.null');
    cy.expectNone(inbox, { timeout: 1000 });
    cy.waitForMessage(inbox).its('message.subject').should('contain', 'Welcome');
  });
});
