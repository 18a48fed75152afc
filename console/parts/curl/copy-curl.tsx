import { CopyButton } from '../../ui/copy.tsx';
import type { CurlOptions } from './curl.ts';
import { useCurl } from './use-curl.ts';

export interface CopyCurlProps extends CurlOptions {
  label?: string;
  /** Distinguishes the requests on a page with several curl buttons, for screen readers. */
  about?: string;
}

/** Copies an API request as a curl command. */
export function CopyCurl({ label = 'Copy as curl', about, ...request }: CopyCurlProps) {
  const curlOf = useCurl();
  return (
    <CopyButton text={() => curlOf(request)} about={about}>
      {label}
    </CopyButton>
  );
}
