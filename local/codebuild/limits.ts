/** As on AWS, a build that takes longer is ended. */
export const buildMinutes = 20;
