import { ownCredentials } from "../../lambdas/aws/signature.ts";

/**
 * Stands in for `@aws-sdk/credential-provider-node` inside the Lambda asset: Lambda always hands a function its
 * credentials in the environment, so the chain (profiles, SSO, IMDS: 133 KB) would never get further than this.
 */
export const defaultProvider = () => async () => ownCredentials();
