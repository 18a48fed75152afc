import type { Api, ApiResponse } from '../../support/api.ts';

export interface RecordedResponse {
  request: string;
  status: number;
  /** The headers and the body. */
  text: string;
}

/** A client whose responses are recorded, except the members in `shownOnce`. */
export type RecordingApi = (
  method: string,
  path: string,
  body?: unknown,
  shownOnce?: readonly string[],
) => Promise<ApiResponse>;

export function recordResponses(api: Pick<Api, 'send'>): {
  api: RecordingApi;
  responses: RecordedResponse[];
} {
  const responses: RecordedResponse[] = [];
  return {
    responses,
    async api(method, path, body, shownOnce = []) {
      const response = await api.send(method, path, body);
      const { status, headers } = response;
      const shown = (name: string, value: unknown) => (shownOnce.includes(name) ? undefined : value);
      const text = JSON.stringify([...headers]) + JSON.stringify(response.body, shown);
      responses.push({ request: `${method} ${path} ${status}`, status, text });
      return response;
    },
  };
}
