import { limits } from "../../api/limits.ts";
import { roleAssumer } from "./assume-role.ts";
import { presigner } from "./presigner.ts";

/** Signs any number of addresses with one session of the signer role; each is valid until `expiresAt`. */
export interface FileSigning {
  expiresAt: string;
  /** An address for PUTs of this Content-Type to this key. */
  upload(key: string, mime: string): Promise<string>;
  /** An address to download this key from; the file arrives under the given name, which must be a token of RFC 9110. */
  download(key: string, name: string): Promise<string>;
}

export interface FileAddresses {
  /** Assumes the signer role once: the URLs are valid for one hour from `now`, and the session at least as long. */
  open(now: Date): Promise<FileSigning>;
}

export function fileAddresses(environment: { FILES_BUCKET: string; FILES_SIGNER_ROLE: string }): FileAddresses {
  const assumeRole = roleAssumer();
  return {
    async open(now) {
      const presign = presigner({
        bucket: environment.FILES_BUCKET,
        validSeconds: limits.addressValidSeconds,
        credentials: await assumeRole(environment.FILES_SIGNER_ROLE),
        now,
      });
      // A signature's validity starts at its date, which has whole seconds.
      const signedAt = Math.floor(now.getTime() / 1000) * 1000;
      return {
        expiresAt: new Date(signedAt + limits.addressValidSeconds * 1000).toISOString(),
        upload: (key, mime) => presign({ method: "PUT", key, contentType: mime }),
        download: (key, name) => {
          const query = { "response-content-disposition": `attachment; filename=${name}` };
          return presign({ method: "GET", key, query });
        },
      };
    },
  };
}
