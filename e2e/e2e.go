// Package e2e has the tests that run the built program as its users do. There is nothing in it but
// tests.
package e2e
