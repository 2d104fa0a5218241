// SPDX-License-Identifier: GPL-2.0-or-later
// Bundles the UI and writes it as a C file: node build.mjs OUT.c [FOLDER]. What is in FOLDER is the same as plain files.
// Names of assets hold their hash, so that a browser may keep them for ever; only index.html is asked for again.
import {createHash} from 'node:crypto'
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {gzipSync} from 'node:zlib'
import esbuild from 'esbuild'

const here = dirname(fileURLToPath(import.meta.url))
const TYPES = {js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', html: 'text/html; charset=utf-8', svg: 'image/svg+xml'}

const hashed = (name, data) => {
	const dot = name.lastIndexOf('.')
	const hash = createHash('sha256').update(data).digest('hex').slice(0, 12)
	return `${name.slice(0, dot)}-${hash}${name.slice(dot)}`
}

// The stream names each event by its type, and a browser hears only names that it was told of: those of the daemon's own table.
const eventNames = () => [...readFileSync(join(here, '../controller/engine/events.def'), 'utf8').matchAll(/^EVENT\(\w+, "([^"]+)"/gm)].map(m => m[1])

async function bundle() {
	const result = await esbuild.build({
		absWorkingDir: here, entryPoints: ['src/main.tsx'], bundle: true, minify: true, format: 'esm', target: 'es2022',
		jsx: 'automatic', jsxImportSource: 'preact', outdir: 'out', write: false, charset: 'utf8', legalComments: 'none',
		define: {EVENT_NAMES: JSON.stringify([...eventNames(), 'stream.reset'])},
	})
	return result.outputFiles.map(file => ({name: file.path.endsWith('.css') ? 'app.css' : 'app.js', data: Buffer.from(file.contents)}))
}

function files(bundled) {
	const icon = {name: 'icon.svg', data: readFileSync(join(here, 'src/icon.svg'))}
	const assets = [...bundled, icon].map(file => ({...file, hashed: hashed(file.name, file.data)}))
	let page = readFileSync(join(here, 'src/index.html'), 'utf8')
	for (const asset of assets) page = page.replace(`{{${asset.name}}}`, asset.hashed)
	return [{name: 'index.html', data: Buffer.from(page)}, ...assets.map(asset => ({name: asset.hashed, data: asset.data}))]
}

function cFile(list) {
	const arrays = list.map((file, i) => {
		const bytes = [...file.zipped]
		const lines = []
		for (let at = 0; at < bytes.length; at += 24) lines.push('\t' + bytes.slice(at, at + 24).join(','))
		return `static const unsigned char ui_bytes_${i}[] = {\n${lines.join(',\n')}};\n`
	})
	const rows = list.map((file, i) =>
		`\t{"${file.name}", "${TYPES[file.name.split('.').pop()]}", "\\"${createHash('sha256').update(file.data).digest('hex').slice(0, 32)}\\"", ui_bytes_${i}, sizeof(ui_bytes_${i})},`)
	return `// Written by webui/build.mjs.\n#include "api/ui.h"\n\n${arrays.join('\n')}\nstatic const struct ui_file ui_rows[] = {\n${rows.join('\n')}\n};\n\n` +
		'const struct ui_file *ui_files(size_t *ret_count)\n{\n\t*ret_count = sizeof(ui_rows) / sizeof(ui_rows[0]);\n\treturn ui_rows;\n}\n'
}

const [out, folder] = process.argv.slice(2)
const list = files(await bundle()).map(file => ({...file, zipped: gzipSync(file.data, {level: 9})}))
mkdirSync(dirname(out), {recursive: true})
writeFileSync(out, cFile(list))
writeFileSync(join(dirname(out), 'sizes.json'), JSON.stringify(Object.fromEntries(list.map(f => [f.name, {size: f.data.length, gzip: f.zipped.length}]))) + '\n')
if (folder) {
	mkdirSync(folder, {recursive: true})
	for (const file of list) writeFileSync(join(folder, file.name), file.data)
}
