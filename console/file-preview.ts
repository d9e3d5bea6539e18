export type Preview = "image" | "text" | "too_large" | "none";

/** Types that browsers show as images. They are shown by `<img>`, in which an SVG runs no scripts. */
const images = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon|vnd\.microsoft\.icon)$/;
const texts =
  /^(text\/.*|application\/(json|xml|yaml|x-yaml|toml|javascript|x-sh|sql|x-ndjson|graphql)|[^;]*\+(json|xml))$/;
const textNames = /\.(txt|md|csv|tsv|log|json|ya?ml|toml|xml|ini|env|conf|sh|sql|[cm]?[jt]sx?|py|css|html?)$/i;

/** In bytes; larger files are not loaded for a preview. */
const imageBytesMax = 20 * 1024 * 1024;
const textBytesMax = 512 * 1024;

/** How a stored file can be shown. */
export function previewOf({ name, mime, size }: { name: string; mime: string; size: number }): Preview {
  const type = mime.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (images.test(type)) return size > imageBytesMax ? "too_large" : "image";
  if (texts.test(type) || (type === "application/octet-stream" && textNames.test(name))) {
    return size > textBytesMax ? "too_large" : "text";
  }
  return "none";
}
