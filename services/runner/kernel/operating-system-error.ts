/** The operating system refused an operation, or a program that the runner started for it failed. */
export class OperatingSystemError extends Error {}
