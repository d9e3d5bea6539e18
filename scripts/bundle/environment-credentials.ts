import { fromEnv } from "@aws-sdk/credential-provider-env";

/**
 * Replaces `@aws-sdk/credential-provider-node` in the Lambda asset. Lambda always passes credentials in the environment,
 * the first provider in the SDK's chain, so the others (profiles, SSO, IMDS: 133 KB) are not needed.
 */
export const defaultProvider = () => fromEnv();
