/** The two calls of the package that the console uses: a bundle of the others would be twice as large. */
export { startAuthentication, startRegistration } from "@simplewebauthn/browser";
