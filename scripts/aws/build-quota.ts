import { paginateListServiceQuotas, ServiceQuotasClient } from "@aws-sdk/client-service-quotas";

/** The number of ARM small builds that the account may run at once; `undefined` if Service Quotas does not list it. */
export async function armBuildsAtOnce(client = new ServiceQuotasClient()): Promise<number | undefined> {
  for await (const { Quotas = [] } of paginateListServiceQuotas(
    { client, pageSize: 100 },
    { ServiceCode: "codebuild" },
  )) {
    const quota = Quotas.find(({ QuotaName = "" }) => /ARM.{0,3}Small/i.test(QuotaName));
    if (quota) return quota.Value;
  }
  return undefined;
}
