import * as z from "zod";
import { type Signing, signedCall } from "./signed-call.ts";

const page = z.object({
  Quotas: z.array(z.object({ QuotaName: z.string(), Value: z.number() })),
  NextToken: z.string().nullish(),
});

/** How many ARM small builds the account may run at once; `undefined` when Service Quotas does not say. */
export async function armBuildsAtOnce(signing: Signing): Promise<number | undefined> {
  const url = new URL(`https://servicequotas.${signing.region}.amazonaws.com/`);
  const target = "ServiceQuotasV20190624.ListServiceQuotas";
  let token: string | null | undefined;
  do {
    const input = { ServiceCode: "codebuild", MaxResults: 100, ...(token && { NextToken: token }) };
    const { ok, body } = await signedCall({ service: "servicequotas", target, url, input }, signing);
    if (!ok) return undefined;
    const { Quotas, NextToken } = page.parse(body);
    const quota = Quotas.find(({ QuotaName }) => /ARM.{0,3}Small/i.test(QuotaName));
    if (quota) return quota.Value;
    token = NextToken;
  } while (token);
  return undefined;
}
