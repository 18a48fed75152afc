import { BINARY } from '../../schemas/files.ts';

const CONTENT_HEADERS = ['ETag', 'Content-Disposition', 'Accept-Ranges'] as const;
const CONTENT = { '*/*': { schema: BINARY, example: 'The content of the file.' } };

/** The responses of a download. */
export const DOWNLOAD_RESPONSES = {
  200: { description: 'All bytes.', headers: CONTENT_HEADERS, content: CONTENT },
  206: {
    description: 'The requested range of the bytes.',
    headers: [...CONTENT_HEADERS, 'Content-Range'] as const,
    content: CONTENT,
  },
  304: {
    description: 'The ETag of the content is one of those in If-None-Match.',
    headers: ['ETag'] as const,
  },
};
