import * as sdk7 from 'ai';
import * as sdk6 from 'ai-6';

/** The major versions of AI SDK, with the types of the newer one: both read the same chunks here. */
export const SDKS = { '6': sdk6 as unknown as typeof sdk7, '7': sdk7 };
