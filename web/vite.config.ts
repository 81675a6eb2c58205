// SPDX-License-Identifier: BSD-3-Clause
// `vite build --mode PAGE` turns PAGE/index.html into the one self-contained file dist/PAGE.html.
// A new page is a folder with an index.html and one more call in package.json's "build".
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

const root = fileURLToPath(new URL(".", import.meta.url));

// Pages show text out of strangers' files. Should a bug ever let markup through, the browser still
// refuses to fetch anything. Not in the development server, which needs its own socket.
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; " +
  "base-uri 'none'; form-action 'none'";
const policy: Plugin = {
  name: "content-security-policy",
  apply: "build",
  transformIndexHtml: (html) =>
    html.replace(
      "<head>",
      `<head>\n<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    ),
};

function packageOf(module: string): string | null {
  for (let dir = dirname(module); dir.includes("node_modules"); dir = dirname(dir)) {
    if (existsSync(join(dir, "package.json"))) return dir;
  }
  return null;
}

// The licences of what was bundled ask for their text in every copy; the minifier drops comments.
function licences(modules: string[]): string {
  const namesByText = new Map<string, string[]>();
  for (const dir of new Set(modules.map(packageOf))) {
    const file = dir && readdirSync(dir).find((name) => /^licen[cs]e/i.test(name));
    if (!dir || !file) continue;
    const text = readFileSync(join(dir, file), "utf8")
      .replaceAll("\r", "")
      .replaceAll("--", "- -")
      .trim();
    const name = relative(root, dir).split(sep).slice(1).join("/");
    namesByText.set(text, [...(namesByText.get(text) ?? []), name].sort());
  }
  return [...namesByText]
    .map(([text, names]) => `${names.join(", ")}\n\n${text}\n`)
    .sort()
    .join("\n");
}

function page(name: string): Plugin {
  return {
    name: "page",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      const html = bundle[`${name}/index.html`];
      if (html?.type !== "asset") throw new Error(`no ${name}/index.html`);
      html.fileName = `${name}.html`;
      html.source += `<!--\nThis page contains the following software.\n\n${licences([...this.getModuleIds()].sort())}-->\n`;
    },
  };
}

export default defineConfig(({ mode }) => ({
  root,
  plugins: [policy, viteSingleFile({ removeViteModuleLoader: true }), page(mode)],
  build: {
    target: "es2022",
    emptyOutDir: false,
    modulePreload: false,
    rollupOptions: { input: join(root, mode, "index.html") },
  },
}));
