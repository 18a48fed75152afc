/** One operation of the document: where it stands, and what is said of it. */
export type Operation = [path: string, method: string, operation: object];
