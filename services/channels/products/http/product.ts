import type { Product, ProductContext } from '../product.ts';
import { ProductError } from '../product-error.ts';
import { downloadFile } from './download.ts';

const MAX_LENGTH = 64 * 1024;
const EDIT_INTERVAL_MS = 500;

/**
 * Any other product. It sends signed callbacks, and its posts are stored by deployments until it pulls them, so no request
 * leaves the worker except for files that messages name by URL.
 */
export function createHttpProduct(context: ProductContext): Product {
  return {
    provider: 'http',
    rules: {
      maxLength: MAX_LENGTH,
      maxParts: Number.POSITIVE_INFINITY,
      lengthOf: (markdown) => markdown.length,
      // The receiver decides what a mention is.
      disarm: (markdown) => markdown,
      editIntervalMs: () => EDIT_INTERVAL_MS,
      // Stored posts are no requests.
      rateOf: () => ({ intervalMs: 0, burst: 1 }),
    },
    open: () => ({
      isReceiving: false,
      me: async () => ({ botId: '', botProfileId: '', name: '', appId: '', teamId: '', teamName: '' }),
      register: async () => {},
      unregister: async () => {},
      connect: async () => {},
      probe: async () => [],
      createPost: isPulled,
      editPost: isPulled,
      deletePost: isPulled,
      uploadFile: isPulled,
      downloadFile: (file, signal) => downloadFile(context, file, signal),
      answer: async () => {},
      close: async () => {},
    }),
  };
}

async function isPulled(): Promise<never> {
  throw new ProductError('refused', 'Posts of this channel are pulled.');
}
