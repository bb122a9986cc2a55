package egresstest

import (
	"net/netip"
	"strings"
)

// Inward returns hosts, as written in a URL, that are internal or cannot be
// distinguished from internal ones. Some are names of [Names].
func Inward() []string { return strings.Fields(inward) }

const inward = `
	127.0.0.1 127.0.0.2 127.1.2.3 127.255.255.255 127.255.255.254 0.0.0.0 0.0.0.1 0.255.255.255
	10.0.0.0 10.0.0.1 10.255.255.255 100.64.0.0 100.64.0.1 100.100.100.200 100.127.255.255
	169.254.0.1 169.254.169.254 169.254.169.253 169.254.170.2 169.254.255.255 168.63.129.16
	172.16.0.0 172.16.0.1 172.20.10.5 172.31.255.255 192.0.0.0 192.0.0.1 192.0.0.8 192.0.0.170 192.0.0.192
	192.0.2.1 192.0.2.255 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1 192.168.1.1 192.168.255.255
	192.175.48.6 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 224.0.0.251 239.255.255.250
	240.0.0.1 250.1.2.3 255.255.255.254 255.255.255.255

	0177.0.0.1 0177.0.0.01 0177.00.00.01 00177.0.0.1 017700000001 0000017700000001 0x7f.0.0.1 0x7F.0.0.1 0x7f.0x0.0x0.0x1
	0x7f000001 0x7F000001 0X7F000001 2130706433 127.1 127.0.1 127.0x1 127.0.0x1 127.0.0.0x1 127.0.0.01 127.0.0.001 0127.0.0.1
	127.0.0.1. 127.1. 2130706433. 0x7f000001. 0 0x0 00 0. 0x 1 4294967295 0xffffffff 037777777777 4294967296 18446744073709551617
	10.1 10.0.1 0xa.0.0.1 012.0.0.1 167772161 0x0a000001 192.168.257 192.168.1 0xc0.0xa8.0x1.0x1 0300.0250.01.01 3232235777 0xC0A80101
	169.254.43518 169.16689662 2852039166 0xA9FEA9FE 0xa9.0xfe.0xa9.0xfe 0251.0376.0251.0376 025177524776 169.254.169.0376
	0251.254.169.254 169.254.0xa9fe 1.1 1.1.1 256.256.256.256 127.0.0.256 127.0.0.1.1 1.2.3.4.5 999.1.1.1 08.8.8.8 8.8.8.010
	8.8.8 134744072 0x8.8.8.8

	[::] [::0] [0:0:0:0:0:0:0:0] [::1] [0:0:0:0:0:0:0:1] [0000::0001] [::127.0.0.1] [::7f00:1] [::10.0.0.1] [::8.8.8.8]
	[::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:127.0.0.1] [0:0:0:0:0:ffff:127.0.0.1] [0:0:0:0:0:ffff:7f00:0001]
	[::ffff:10.0.0.1] [::ffff:169.254.169.254] [::ffff:a9fe:a9fe] [::ffff:192.168.0.1] [::ffff:0.0.0.0] [::ffff:168.63.129.16]
	[::ffff:100.64.0.1] [::ffff:198.18.0.1] [::ffff:255.255.255.255] [::ffff:0:127.0.0.1] [::ffff:0:8.8.8.8]
	[64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b::10.0.0.1] [64:ff9b::169.254.169.254] [64:ff9b::c0a8:1] [64:ff9b::0.0.0.0]
	[64:ff9b:1::127.0.0.1] [64:ff9b:1::8.8.8.8] [64:ff9b:1:ffff::10.0.0.1]
	[2002:7f00:1::] [2002:7f00:0001::1] [2002:a00:1::1] [2002:c0a8:101::1] [2002:a9fe:a9fe::1] [2002:808:808::1]
	[2001::1] [2001:0:7f00:1::] [2001:0:53aa:64c:0:7fff:80ff:fffe] [2001:0:4136:e378:8000:63bf:f5ff:fffe]
	[2001:2::1] [2001:3::1] [2001:4:112::1] [2001:10::1] [2001:20::1] [2001:30::1] [2001:1ff:ffff::1] [2001:db8::1] [2001:db8:ffff::1]
	[3ffe::1] [3fff::1] [3fff:fff::1] [2620:4f:8000::1] [5f00::1] [4000::1] [1000::1] [100::1] [100:0:0:1::1] [200::1]
	[fc00::1] [fd00::1] [fd00:ec2::254] [fd20:ce::254] [fd12:3456:789a::1] [fdff:ffff::1] [fe80::1] [fe80::a9fe:a9fe] [febf::1]
	[fec0::1] [feff::1] [ff00::1] [ff02::1] [ff02::fb] [ff05::2] [ff0e::1] [ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]
	[2a00:1450::5efe:7f00:1] [2a00:1450::5efe:10.0.0.1] [2a00:1450::200:5efe:192.168.0.1]
	[fe80::1%25eth0] [fe80::1%25lo] [::1%25lo] [::1%251] [2001:4860:4860::8888%25eth0] [::ffff:127.0.0.1%25lo] [fe80::1%25%65th0]

	localhost LOCALHOST Localhost localhost. localhost.localdomain ip6-localhost ip6-loopback
	inward.test rebind.test mapped.test v6.test meta.test sixtofour.test nat64.test unspecified.test
	１２７.０.０.１ 127。0。0。1 127．0．0．1 ①②⑦.⓪.⓪.① ①27.0.0.1 ｌocalhost ⓛocalhost loc%61lhost 127.0.0.1%00.example.com 127.0.0.1%20
	127.0.0.1%2eexample.com %31%32%37.0.0.1 [::1]%20 example.com%00 a..b .example.com -.1 exam_ple!.com a,b (127.0.0.1) 127.0.0.1;x
	٢١٣٠٧٠٦٤٣٣ １２７.１ ²130706433 0ｘ7f.1 [0x7f::1] [127.0.0.1] [localhost] [::1].example.com [] [:] [:::1] [::1::] [g::1]
`

// Spelled returns URLs with malicious parts outside the host.
func Spelled() []string {
	return []string{
		"http://user@127.0.0.1/", "http://user:pass@example.com/", "http://example.com@127.0.0.1/",
		"http://127.0.0.1:80@example.com/",
		"http://example.com#@127.0.0.1/\x7f", "http:127.0.0.1/", "http:/127.0.0.1/", "http:///127.0.0.1/", "http://", "http:",
		"//127.0.0.1/", "127.0.0.1", "",
		"http://\\127.0.0.1/", "http://example.com\\@127.0.0.1/", "http://127.0.0.1\\.example.com/", "http:\\\\127.0.0.1\\",
		"http://127.0.0.1 /",
		"http://exam\tple.com/", "http://example.com\r\nHost: x/", "http://\x00127.0.0.1/",
		"file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:6379/_INFO", "dict://127.0.0.1/", "ldap://127.0.0.1/",
		"unix:///var/run/docker.sock",
		"data:text/plain,x", "javascript:1", "jar:http://127.0.0.1!/", "HTTP+UNIX://x/", "httpx://127.0.0.1/",
		"ws://127.0.0.1/",
		"http://8.8.8.8:22/", "http://8.8.8.8:0/", "http://8.8.8.8:65536/", "http://8.8.8.8:-80/", "http://8.8.8.8:+80/",
		"http://8.8.8.8:080/",
		"http://8.8.8.8:8080/", "http://8.8.8.8:6379/", "http://8.8.8.8:0x50/", "http://8.8.8.8:80:80/",
		"https://8.8.8.8:5432/", "http://[2001:4860:4860::8888]:25/",
	}
}

// Foreign returns names that are not ASCII. Lower case, IDNA and normal forms
// disagree about most of them.
func Foreign() []string {
	return []string{
		"api.gİthub.example", "api.g%C4%B0thub.example", "API.GİTHUB.example", "api.gi\u0307thub.example",
		"api.gıthub.example", "api.githu\u200db.example",
		"api.git\u00adhub.example", "api。github.example", "api．github.example", "api｡github.example", "api.github。example",
		"ａｐｉ.github.example",
		"api.ｇithub.example", "api.ⓖithub.example", "api.github.example\u00ad", "api.github.example。",
		"\u00adapi.github.example", "straße.example",
		"STRAẞE.example", "straẞe.example", "fa\u017ft.example", "\u212aelvin.example", "\u212bngström.example",
		"bücher.example",
		"BÜCHER.example", "例え.テスト", "пример.испытание", "\u0430pi.github.example", "api.github.exampl\u0435", "ﬁle.example",
		"ª.example", "xn--bcher-kva.exämple", "api.github.example\u200b", "ς.example", "σ.example", "Σ.example",
		"ǅ.example", "𝐚ws.example", "😀.example", "0\u0301.example",
	}
}

// Outward returns hosts of the public internet by their addresses, mainly at the borders
// of special blocks.
func Outward() []string { return strings.Fields(outward) }

const outward = `
	1.0.0.1 1.1.1.1 8.8.8.8 9.9.9.9 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 168.63.129.15
	168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.1 192.88.100.1
	192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.1 198.51.101.1 203.0.112.1 203.0.114.1 223.255.255.255
	[2001:200::1] [2001:4860:4860::8888] [2606:4700::1111] [2620:fe::fe] [2620:4f:7fff::1] [2620:4f:8001::1] [2a00:1450:4001::1] [2003::1]
	[2400:cb00::1] [2c0f:fb50::1] [2001:db7:ffff::1] [2001:db9::1] [3ffd::1] [::ffff:8.8.8.8] [::ffff:808:808] [64:ff9b::8.8.8.8] [64:ff9b::808:808]
`

// OutwardNames returns spellings of names that a public upstream may have.
func OutwardNames() []string { return strings.Fields(outwardNames) }

const outwardNames = `
	example.com EXAMPLE.com example.com. xn--bcher-kva.example xn--r8jz45g.xn--zckzah a-b.example my_host.example
	1.example 0x7f.example 127.0.0.1.example.com 2130706433.example.com 3com.com 1e100.net api.v2.example x.y.z.w.example 0xdead.beef.example
`

// Names returns the addresses of the corpus's names: all internal.
func Names() map[string][]netip.Addr {
	return map[string][]netip.Addr{
		"inward.test":      {netip.MustParseAddr("127.0.0.1")},
		"rebind.test":      {netip.MustParseAddr("127.0.0.1")},
		"mapped.test":      {netip.MustParseAddr("::ffff:127.0.0.1")},
		"v6.test":          {netip.MustParseAddr("::1")},
		"meta.test":        {netip.MustParseAddr("169.254.169.254")},
		"sixtofour.test":   {netip.MustParseAddr("2002:7f00:1::1")},
		"nat64.test":       {netip.MustParseAddr("64:ff9b::7f00:1")},
		"unspecified.test": {netip.MustParseAddr("0.0.0.0")},
	}
}
