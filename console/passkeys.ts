/** Only these two functions of the package are used; a bundle with all of them would be twice as large. */
export { startAuthentication, startRegistration } from "@simplewebauthn/browser";
