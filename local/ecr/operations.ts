import * as z from "zod";
import { AwsError, epochSeconds, type Operation, operation } from "../aws/service.ts";
import { account } from "../names.ts";
import type { ImageStore } from "./store.ts";

const repositoryName = z.string().regex(/^[a-z0-9]+(?:[._/-][a-z0-9_]+)*$/);

const notFound = (name: string) =>
  new AwsError("RepositoryNotFoundException", `The repository with name '${name}' does not exist in the registry`);

/** Without `force` ECR refuses a repository that holds images, so the service always sets it. */
const deleteInput = z.strictObject({ repositoryName, force: z.literal(true) });

/** DeleteRepository; `remove` says whether there was one. */
export function deleteRepository(remove: (name: string) => Promise<boolean>): Operation {
  return operation(deleteInput, async ({ repositoryName: name }) => {
    if (!(await remove(name))) throw notFound(name);
    return { repository: { repositoryName: name } };
  });
}

/** CreateRepository, DeleteRepository, PutLifecyclePolicy, GetAuthorizationToken, DescribeImages, BatchDeleteImage. */
export function ecrOperations(
  store: ImageStore,
  password: string,
  remove: (name: string) => Promise<boolean>,
): Record<string, Operation> {
  return {
    DeleteRepository: deleteRepository(remove),
    // Images are kept on this machine only: they are neither scanned nor encrypted with a key, and tags can be replaced.
    CreateRepository: operation(z.looseObject({ repositoryName }), ({ repositoryName: name }) => {
      if (store.create(name)) return { repository: { repositoryName: name } };
      throw new AwsError("RepositoryAlreadyExistsException", `The repository with name '${name}' already exists`);
    }),
    // The policy is only accepted, not applied: every start deletes untagged images anyway.
    PutLifecyclePolicy: operation(
      z.strictObject({ repositoryName, lifecyclePolicyText: z.string() }),
      ({ repositoryName: name, ...policy }) => {
        if (!store.exists(name)) throw notFound(name);
        return { repositoryName: name, ...policy };
      },
    ),
    GetAuthorizationToken: operation(z.strictObject({}), () => ({
      authorizationData: [{ authorizationToken: Buffer.from(`AWS:${password}`).toString("base64") }],
    })),
    DescribeImages: operation(
      z.strictObject({
        repositoryName,
        filter: z.strictObject({ tagStatus: z.literal("TAGGED") }),
        maxResults: z.int().optional(),
      }),
      ({ repositoryName: name }) => {
        const images = store.images(name)?.filter(({ tags }) => tags.length > 0);
        if (!images) throw notFound(name);
        return {
          imageDetails: images.map(({ digest, tags, pushedAt }) => ({
            registryId: account,
            repositoryName: name,
            imageDigest: digest,
            imageTags: tags,
            imagePushedAt: epochSeconds(pushedAt),
          })),
        };
      },
    ),
    BatchDeleteImage: operation(
      z.strictObject({ repositoryName, imageIds: z.array(z.strictObject({ imageTag: z.string() })).max(100) }),
      ({ repositoryName: name, imageIds }) => {
        if (!store.exists(name)) throw notFound(name);
        const results = imageIds.map(({ imageTag }) => ({ imageTag, imageDigest: store.untag(name, imageTag) }));
        return {
          imageIds: results.filter(({ imageDigest }) => imageDigest !== undefined),
          failures: results
            .filter(({ imageDigest }) => imageDigest === undefined)
            .map(({ imageTag }) => ({ imageId: { imageTag }, failureCode: "ImageNotFound" })),
        };
      },
    ),
  };
}
