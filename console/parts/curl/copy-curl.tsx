import { CopyButton } from '../../ui/copy.tsx';
import type { CurlOptions } from './curl.ts';
import { useCurl } from './use-curl.ts';

/** Copies what a page or a button does, as a line for a shell. */
export function CopyCurl({ label = 'Copy as curl', ...request }: CurlOptions & { label?: string }) {
  const curlOf = useCurl();
  return <CopyButton text={() => curlOf(request)}>{label}</CopyButton>;
}
