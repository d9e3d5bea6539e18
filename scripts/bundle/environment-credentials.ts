/**
 * Stands in for `@aws-sdk/credential-provider-node` inside the Lambda asset: Lambda always hands a function its
 * credentials in the environment, so the chain (profiles, SSO, IMDS: 133 KB) would never get further than this.
 */
export const defaultProvider = () => async () => {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) throw new Error("The function has no AWS credentials");
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
  };
};
