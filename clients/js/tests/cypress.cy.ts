// Checked against the types of Cypress, not run.
import '@.example/cypress';

it('signs up', () => {
  cy.inbox().then((inbox) => {
    cy.visit('/');
    cy.get('[name=address]').type(inbox.email);
    cy.contains('Sign up').click();
    cy.waitForCode(inbox).then((code) => cy.get('[name=code]').type(code));
    cy.waitForLink(inbox, { timeout: 5000 }).then((link) => cy.visit(link));
    cy.waitForMessage(inbox).its('message.subject').should('contain', 'Welcome');
  });
});
