import { ConnectionError, SlipwayError } from "./errors.ts";
import { connect, type Platform, type PutOptions, type SlipwayClient, type SlipwayOptions } from "./slipway.ts";

export {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  DeploymentError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServiceError,
  SlipwayError,
} from "./errors.ts";
export type * from "./slipway.ts";
export { isFinished } from "./wait-for-build.ts";

/** What a browser can upload. */
export type BrowserSource = Blob | ArrayBuffer | Uint8Array<ArrayBuffer>;

/**
 * Sends bytes to the upload address of a file, without any credential of the service; rejects with SlipwayError (`network`,
 * `upload_refused`) or the signal's reason. XMLHttpRequest, because fetch does not report the progress of an upload.
 */
export function put(
  url: string,
  source: BrowserSource,
  { contentType, onProgress, signal }: PutOptions,
): Promise<void> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    signal?.addEventListener("abort", stop, { once: true });
    request.upload.onprogress = ({ loaded, total }) => onProgress?.({ sentBytes: loaded, totalBytes: total });
    request.onloadend = () => {
      signal?.removeEventListener("abort", stop);
      const { status } = request;
      if (status >= 200 && status < 300) resolve();
      else if (signal?.aborted) reject(signal.reason);
      else if (status === 0) reject(new ConnectionError("network", "The upload was interrupted."));
      else reject(new SlipwayError("upload_refused", `The upload was not accepted (${status}).`, { status }));
    };
    request.open("PUT", url);
    request.setRequestHeader("content-type", contentType);
    request.send(source instanceof Blob ? source : new Blob([source]));
  });
}

const browserPlatform: Platform<BrowserSource> = {
  login: () => {
    throw new TypeError("In a browser, new Slipway needs { token } or { accessKey, secretKey }.");
  },
  baseUrl: () => globalThis.location.origin,
  put,
};

export interface Slipway extends SlipwayClient<BrowserSource> {}

/** A client of the service for browsers; `baseUrl` is the page's own origin when not given. Replies are checked if `replies` is given. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the methods are those of the route table, assigned by the constructor.
export class Slipway {
  constructor(options: SlipwayOptions) {
    Object.assign(this, connect(browserPlatform, options));
  }
}
