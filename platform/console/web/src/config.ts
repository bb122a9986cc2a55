// What the server says in the page itself.
export interface Config {
  prefix: string;
  build: string;
  nonce: string;
  development: boolean;
  apps: string; // The address of the page in which apps are shown.
}

const meta = document.querySelector<HTMLMetaElement>('meta[name="toolcrib"]');
export const config: Config = JSON.parse(meta?.content ?? '{"prefix":"","build":"","nonce":"","development":false,"apps":"/_sandbox"}');

// nonce allows styles that libraries add. It is also read by them as __webpack_nonce__.
export const nonce = config.nonce;
