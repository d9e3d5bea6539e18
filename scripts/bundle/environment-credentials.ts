import { fromEnv } from "@aws-sdk/credential-provider-env";

/**
 * Replaces `@aws-sdk/credential-provider-node` inside the Lambda asset: Lambda always passes a function its credentials
 * in the environment, so the SDK's chain (profiles, SSO, IMDS: 133 KB) would stop at this same first provider.
 */
export const defaultProvider = () => fromEnv();
