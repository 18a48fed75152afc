import type { PostRules } from '../products/product.ts';

export interface RenderOptions {
  rules: Pick<PostRules, 'maxLength' | 'maxParts' | 'lengthOf' | 'disarm'>;
  /** none | status | list */
  showTools: string;
  /** edit | final_only */
  edits: string;
  filesOut: boolean;
  /** Longer files are named instead. */
  maxFileBytes: number;
  /** The session in the console. */
  consoleUrl: string;
  /** The name of an account, such as slack:U123, that has written in the conversation. */
  nameOf(account: string): string | undefined;
  /** Lowercase hexadecimal SHA-256. Passed in, because the renderer has no dependencies. */
  digest(text: string): string;
}
