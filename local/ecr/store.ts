import { createHash, randomUUID } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import * as z from "zod";
import { readStateFile, writeStateFile } from "../state-file.ts";

const repositorySchema = z.object({
  /** By digest. `blobs` are the layers and the configuration that the manifest names. */
  manifests: z.record(
    z.string(),
    z.object({ mediaType: z.string(), pushedAt: z.number(), blobs: z.array(z.string()) }),
  ),
  /** Digests by tag. */
  tags: z.record(z.string(), z.string()),
});
type Repository = z.infer<typeof repositorySchema>;

/** A manifest as it was pushed. */
export interface Manifest {
  digest: string;
  mediaType: string;
  bytes: Buffer;
}

/** An image for DescribeImages. */
export interface StoredImage {
  digest: string;
  tags: string[];
  pushedAt: Date;
}

const hexOf = (digest: string) => digest.replace("sha256:", "");
const named = z.object({ digest: z.string() });
/** A manifest: of an image (configuration and layers) or an index (other manifests). */
const manifestSchema = z.object({
  config: named.optional(),
  layers: z.array(named).default([]),
  manifests: z.array(named).default([]),
});

/** The digests that a manifest needs; undefined if it is not a manifest. */
function digestsIn(bytes: Buffer): string[] | undefined {
  try {
    const { config, layers, manifests } = manifestSchema.parse(JSON.parse(bytes.toString("utf8")));
    return [...(config ? [config] : []), ...layers, ...manifests].map(({ digest }) => digest);
  } catch {
    return undefined;
  }
}

/**
 * The images of the embedded ECR in a folder. Blobs are shared by all repositories. A blob is complete before it gets its
 * name, and a manifest before its repository lists it, so that a crash leaves only unused files, which the next start deletes.
 */
export class ImageStore {
  readonly #dir: string;
  readonly #uploads = new Map<string, { file: number; hash: ReturnType<typeof createHash>; size: number }>();

  constructor(dir: string) {
    this.#dir = dir;
    rmSync(join(dir, "uploads"), { recursive: true, force: true });
    for (const name of ["uploads", "blobs", "repositories"]) mkdirSync(join(dir, name), { recursive: true });
    this.#collect();
  }

  /** Deletes untagged manifests, such as replaced caches, and the blobs that no manifest needs. */
  #collect(): void {
    const needed = new Set<string>();
    for (const file of readdirSync(join(this.#dir, "repositories"))) {
      const name = decodeURIComponent(file.replace(/\.json$/, ""));
      const repository = this.#read(name);
      if (!repository) continue;
      const tagged = new Set(Object.values(repository.tags));
      const kept = Object.entries(repository.manifests).filter(([digest]) => tagged.has(digest));
      writeStateFile(this.#file(name), { ...repository, manifests: Object.fromEntries(kept) });
      for (const [digest, { blobs }] of kept) for (const one of [digest, ...blobs]) needed.add(hexOf(one));
    }
    for (const name of readdirSync(join(this.#dir, "blobs")))
      if (!needed.has(name)) rmSync(join(this.#dir, "blobs", name), { force: true });
  }

  #file(repository: string): string {
    return join(this.#dir, "repositories", `${encodeURIComponent(repository)}.json`);
  }

  #read(repository: string): Repository | undefined {
    return readStateFile(this.#file(repository), repositorySchema, "Delete it and build the apps again.");
  }

  /** Returns false if the repository exists. */
  create(repository: string): boolean {
    if (this.exists(repository)) return false;
    writeStateFile(this.#file(repository), { manifests: {}, tags: {} });
    return true;
  }

  /** Deletes a repository; the next start deletes its blobs. Returns false if there is none. */
  delete(repository: string): boolean {
    if (!this.exists(repository)) return false;
    rmSync(this.#file(repository), { force: true });
    return true;
  }

  exists(repository: string): boolean {
    return existsSync(this.#file(repository));
  }

  #blob(digest: string): string {
    return join(this.#dir, "blobs", hexOf(digest));
  }

  /** The size of a blob in bytes; undefined if there is none. */
  sizeOf(digest: string): number | undefined {
    return statSync(this.#blob(digest), { throwIfNoEntry: false })?.size;
  }

  open(digest: string): Readable {
    return createReadStream(this.#blob(digest));
  }

  /** Starts an upload and returns its id. */
  begin(): string {
    const id = randomUUID();
    const file = openSync(join(this.#dir, "uploads", id), "wx", 0o600);
    this.#uploads.set(id, { file, hash: createHash("sha256"), size: 0 });
    return id;
  }

  /** Appends to an upload and returns its size; undefined if there is no such upload. An upload that fails frees its disk space. */
  async append(id: string, content: AsyncIterable<Buffer>): Promise<number | undefined> {
    const upload = this.#uploads.get(id);
    if (!upload) return undefined;
    try {
      for await (const chunk of content) {
        appendFileSync(upload.file, chunk);
        upload.hash.update(chunk);
        upload.size += chunk.length;
      }
    } catch (error) {
      closeSync(upload.file);
      this.#uploads.delete(id);
      rmSync(join(this.#dir, "uploads", id), { force: true });
      throw error;
    }
    return upload.size;
  }

  /** Ends an upload. Returns false, and forgets the upload, if its content has another digest. */
  finish(id: string, digest: string): boolean {
    const upload = this.#uploads.get(id);
    if (!upload) return false;
    const isRight = `sha256:${upload.hash.digest("hex")}` === digest;
    if (isRight) fsyncSync(upload.file);
    closeSync(upload.file);
    this.#uploads.delete(id);
    const path = join(this.#dir, "uploads", id);
    if (isRight) renameSync(path, this.#blob(digest));
    else rmSync(path);
    return isRight;
  }

  /**
   * Stores a manifest under its digest and, if `reference` is a tag, under the tag. Returns undefined if it is not a
   * manifest, or needs blobs that were not pushed.
   */
  put(repository: string, reference: string, { mediaType, bytes }: Omit<Manifest, "digest">): Manifest | undefined {
    const blobs = digestsIn(bytes);
    if (!blobs?.every((digest) => this.sizeOf(digest) !== undefined)) return undefined;
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    const id = this.begin();
    const upload = this.#uploads.get(id);
    if (upload) appendFileSync(upload.file, bytes);
    upload?.hash.update(bytes);
    this.finish(id, digest);
    const found = this.#read(repository) ?? { manifests: {}, tags: {} };
    found.manifests[digest] = { mediaType, pushedAt: Date.now(), blobs };
    if (!reference.startsWith("sha256:")) found.tags[reference] = digest;
    writeStateFile(this.#file(repository), found);
    return { digest, mediaType, bytes };
  }

  /** The manifest of a tag or digest. */
  manifest(repository: string, reference: string): Manifest | undefined {
    const found = this.#read(repository);
    const digest = reference.startsWith("sha256:") ? reference : found?.tags[reference];
    const known = digest === undefined ? undefined : found?.manifests[digest];
    if (digest === undefined || known === undefined) return undefined;
    return { digest, mediaType: known.mediaType, bytes: readFileSync(this.#blob(digest)) };
  }

  /** Whether an image can be pulled: its manifest is listed, and all of its blobs are there. */
  hasImage(repository: string, digest: string): boolean {
    const known = this.#read(repository)?.manifests[digest];
    return known !== undefined && [digest, ...known.blobs].every((one) => this.sizeOf(one) !== undefined);
  }

  /** The images of a repository; undefined if it does not exist. */
  images(repository: string): StoredImage[] | undefined {
    const found = this.#read(repository);
    if (!found) return undefined;
    return Object.entries(found.manifests).map(([digest, { pushedAt }]) => ({
      digest,
      tags: Object.keys(found.tags).filter((tag) => found.tags[tag] === digest),
      pushedAt: new Date(pushedAt),
    }));
  }

  /** Removes a tag, and its image if it has no other tag. Returns the digest; undefined if there is no such tag. */
  untag(repository: string, tag: string): string | undefined {
    const found = this.#read(repository);
    const digest = found?.tags[tag];
    if (!found || digest === undefined) return undefined;
    delete found.tags[tag];
    if (!Object.values(found.tags).includes(digest)) delete found.manifests[digest];
    writeStateFile(this.#file(repository), found);
    return digest;
  }
}
