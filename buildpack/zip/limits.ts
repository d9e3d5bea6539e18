/** The limits of an archive; `…Max` values are inclusive. */
export interface ArchiveLimits {
  zippedBytesMax: number;
  unpackedBytesMax: number;
  /** The number of entries and of the folders that their names imply. */
  entriesMax: number;
  directoryBytesMax: number;
  nameBytesMax: number;
  segmentBytesMax: number;
  linkBytesMax: number;
  linksTotalBytesMax: number;
  /** A file above this size must have at least 1/`ratioMax` of its size when packed. */
  ratioFreeBytes: number;
  ratioMax: number;
}

const MiB = 1024 * 1024;

/** The limits of the service (docs/api.md, Archives); the limits of names and links are those of common file systems. */
export const archiveLimits: ArchiveLimits = {
  zippedBytesMax: 512 * MiB,
  unpackedBytesMax: 2048 * MiB,
  entriesMax: 200_000,
  directoryBytesMax: 40 * MiB,
  nameBytesMax: 1024,
  segmentBytesMax: 255,
  linkBytesMax: 1024,
  linksTotalBytesMax: 8 * MiB,
  ratioFreeBytes: 256 * MiB,
  ratioMax: 500,
};
