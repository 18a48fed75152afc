/** Reports the progress of a call to a client that has asked for it. Never rejects. */
export type ProgressReporter = (message: string) => Promise<void>;
