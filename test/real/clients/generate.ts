import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { generate } from 'orval';

/** Generates the client of one tool from the document in `input` to `folder`, as the tool's documentation shows. */
export const GENERATORS = {
  async 'openapi-typescript'(input: string, folder: string): Promise<void> {
    const types = await openapiTypescript(new URL(`file://${input}`));
    await writeFile(join(folder, 'generated.ts'), astToString(types));
  },

  async 'hey-api'(input: string, folder: string): Promise<void> {
    await createClient({
      input,
      output: { path: join(folder, 'generated') },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
      logs: { level: 'silent' },
    });
  },

  async orval(input: string, folder: string): Promise<void> {
    await generate(
      {
        input: { target: input },
        output: {
          target: join(folder, 'generated.ts'),
          client: 'fetch',
          baseUrl: { getBaseUrlFromSpecification: true },
        },
      },
      folder,
      { logLevel: 'error' },
    );
  },
};
