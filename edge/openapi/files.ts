import { Type } from 'typebox';
import type { ErrorCode } from '../../lib/errors.ts';
import { FILE_PLACES, type FilePlace } from '../files/places.ts';
import { ARCHIVE_PATH, ArchiveQuery } from '../routes/files/archive.ts';
import { CONTENT_PATH, ContentQuery } from '../routes/files/content.ts';
import { UPLOAD_PATH, Uploaded, UploadQuery } from '../routes/files/upload.ts';
import { type Components, collect } from './components.ts';
import { errorResponses, impliedErrors } from './errors.ts';
import { exampleOf } from './example.ts';
import type { Operation } from './operation.ts';
import { headerParameters, pathParameters, queryParameters } from './parameters.ts';

/** The operations on files in which bytes travel. */
export function fileOperations(components: Components): Operation[] {
  return FILE_PLACES.flatMap((at) => [
    uploadOperation(at, components),
    contentOperation(at, components),
    archiveOperation(at, components),
  ]);
}

const BYTES = { type: 'string', format: 'binary' };

const FORM = {
  'multipart/form-data': {
    schema: {
      type: 'object',
      required: ['path', 'files'],
      properties: {
        path: {
          type: 'string',
          description: 'First: the directory into which the files go. Empty for the workspace.',
        },
        files: {
          type: 'array',
          minItems: 1,
          items: BYTES,
          description:
            'Each goes under its file name, which may have directories in it. Their paths must differ.',
        },
      },
    },
    example: { path: 'docs', files: ['# Report'] },
  },
  '*/*': { schema: BYTES, example: 'The content of the file.' },
};

function uploadOperation(at: FilePlace, components: Components): Operation {
  const path = at.path + UPLOAD_PATH;
  const headers = ['Idempotency-Key'] as const;
  const answer = Type.Object({ code: Type.Literal('OK'), message: Type.Literal('success'), data: Uploaded });
  return [
    path,
    'POST',
    {
      operationId: `upload${at.noun}Files`,
      tags: ['Files'],
      summary: `Upload files of ${at.owner}`,
      description:
        'A form with `path` and any number of `files`, or a body that is one file, with its path in the query. What is there ' +
        'is replaced, and directories are made as they are needed. All files of a request are kept together, as one version ' +
        'of the workspace, or none is. An upload may take any time as long as something of it comes.',
      parameters: [
        ...pathParameters(path),
        ...queryParameters(UploadQuery, components),
        ...headerParameters(headers),
      ],
      requestBody: { required: true, content: FORM },
      responses: {
        201: {
          description: 'What stands at the paths now, in the order of the files.',
          content: {
            'application/json': { schema: collect(answer, components), example: exampleOf(answer) },
          },
        },
        ...errorResponses([
          ...impliedErrors({ path, query: UploadQuery, headers }),
          at.missing,
          ...at.frozen,
          'UNSUPPORTED_MEDIA_TYPE',
          'NAME_TAKEN',
          'FILE_TOO_LARGE',
          'QUOTA_EXCEEDED',
        ]),
      },
    },
  ];
}

const SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const CONTENT_HEADERS = {
  ETag: { description: 'The SHA-256 of the content, in quotes.', schema: { const: `"${SHA256}"` } },
  'Content-Disposition': {
    description: 'An attachment with the name of the file.',
    schema: { type: 'string' },
  },
};
const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'Entity tags: when the content has none of them, it is refused with VERSION_CONFLICT.',
  schema: { type: 'string' },
};

function contentOperation(at: FilePlace, components: Components): Operation {
  const path = at.path + CONTENT_PATH;
  const content = { '*/*': { schema: BYTES, example: 'The content of the file.' } };
  return [
    path,
    'GET',
    {
      operationId: `get${at.noun}FileContent`,
      tags: ['Files'],
      summary: `Download a file of ${at.owner}`,
      description:
        'At most 64 MiB in one answer: of a longer file, ask for ranges. HEAD says how long it is. An answer that is shorter ' +
        'than its Content-Length was broken off.',
      parameters: [
        ...pathParameters(path),
        ...queryParameters(ContentQuery, components),
        ...headerParameters(['Range', 'If-Range', 'If-None-Match']),
        IF_MATCH,
      ],
      responses: {
        200: { description: 'The whole file.', headers: CONTENT_HEADERS, content },
        206: {
          description: 'The range of it that was asked for.',
          headers: {
            ...CONTENT_HEADERS,
            'Content-Range': { description: 'Which part of the file it is.', schema: { type: 'string' } },
          },
          content,
        },
        304: { description: 'The content is one of those that If-None-Match names.' },
        ...errorResponses([
          ...impliedErrors({ path, query: ContentQuery }),
          ...reading(at),
          'VERSION_CONFLICT',
          'RANGE_NOT_SATISFIABLE',
        ]),
      },
    },
  ];
}

function archiveOperation(at: FilePlace, components: Components): Operation {
  const path = at.path + ARCHIVE_PATH;
  return [
    path,
    'GET',
    {
      operationId: `get${at.noun}FileArchive`,
      tags: ['Files'],
      summary: `Download a directory of ${at.owner} as a tar archive`,
      description: 'At most 64 MiB, in the pax format of POSIX.',
      parameters: [...pathParameters(path), ...queryParameters(ArchiveQuery, components)],
      responses: {
        200: {
          description: 'The archive.',
          content: { 'application/x-tar': { schema: BYTES, example: 'The archive.' } },
        },
        ...errorResponses([...impliedErrors({ path, query: ArchiveQuery }), ...reading(at)]),
      },
    },
  ];
}

const reading = (at: FilePlace): ErrorCode[] => [
  at.missing,
  'FILE_NOT_FOUND',
  'FILE_TOO_LARGE',
  'CONTENT_DAMAGED',
];
