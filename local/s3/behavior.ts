/** How the embedded S3 delivers the events of new objects. */
export interface S3Behavior {
  /** The times of the deliveries of an event, in milliseconds after the upload; each event is delivered at least once. */
  deliveriesMs(eventId: string): readonly number[];
}

/** Delivers each event once, at once. */
export const kindS3: S3Behavior = { deliveriesMs: () => [0] };

/** Delivers each event twice, late; events of two uploads can arrive in either order. */
export const cloudS3: S3Behavior = {
  deliveriesMs(eventId) {
    const drawn = Number.parseInt(eventId.slice(0, 2), 16) / 256;
    return [100 + drawn * 900, 1_000 + drawn * 500];
  },
};
