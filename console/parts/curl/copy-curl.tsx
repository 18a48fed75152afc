import { CopyButton } from '../../ui/copy.tsx';
import type { CurlOptions } from './curl.ts';
import { useCurl } from './use-curl.ts';

export interface CopyCurlProps extends CurlOptions {
  label?: string;
  /** Which request it is, on a page where several can be copied. */
  about?: string;
}

/** Copies what a page or a button does, as a line for a shell. */
export function CopyCurl({ label = 'Copy as curl', about, ...request }: CopyCurlProps) {
  const curlOf = useCurl();
  return (
    <CopyButton text={() => curlOf(request)} about={about}>
      {label}
    </CopyButton>
  );
}
