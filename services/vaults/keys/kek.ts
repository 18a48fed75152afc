/** A text that a key-encryption key (KEK) has encrypted, as the database stores it. */
export interface WrappedText {
  bytes: Buffer;
  /** `local:<id of a key of SERVICE_SEALING_KEY>` or `kms:<key id of the KMS>`. */
  kekId: string;
  /** The data of the KMS that belongs to `bytes`, in Base64 by name. Empty for `local`. */
  annotations: Record<string, string>;
}

/** Key-encryption keys of one kind. Errors contain no key. */
export interface KeyEncryption {
  /** Returns the id of the key that wraps now. */
  currentId(): Promise<string>;
  wrap(plaintext: Buffer, context: string): Promise<WrappedText>;
  unwrap(wrapped: WrappedText, context: string): Promise<Buffer>;
  /** Whether `unwrap` can be tried for texts of this key. */
  knows(kekId: string): boolean;
  /** Rejects unless texts can be wrapped and unwrapped now. */
  check(): Promise<void>;
  close(): void;
}
