package file

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
)

// decoders read the headers of images.
var decoders = map[string]func(io.Reader) (image.Config, error){
	PNG: png.DecodeConfig, JPEG: jpeg.DecodeConfig, GIF: gif.DecodeConfig,
}

// walkPNG checks the chunks of a PNG, and that nothing follows the last.
func walkPNG(content []byte) error {
	rest := content[8:]
	for first := true; ; first = false {
		if len(rest) < 12 {
			return refuse("the PNG is incomplete")
		}
		size, name := int64(binary.BigEndian.Uint32(rest)), string(rest[4:8])
		switch {
		case size+12 > int64(len(rest)):
			return refuse("the PNG is incomplete")
		case first && name != "IHDR":
			return refuse("the PNG is damaged")
		}
		rest = rest[12+size:]
		if name != "IEND" {
			continue
		}
		if len(rest) > 0 {
			return refuse("something follows the end of the PNG")
		}
		return nil
	}
}

// walkJPEG checks the segments before the picture of a JPEG, and that it has an end.
func walkJPEG(content []byte) error {
	rest := content[2:]
	for {
		if len(rest) < 4 || rest[0] != 0xff {
			return refuse("the JPEG is damaged")
		}
		if rest[1] == 0xff { // Fill.
			rest = rest[1:]
			continue
		}
		marker, size := rest[1], int(binary.BigEndian.Uint16(rest[2:4]))
		if marker < 0xc0 || size < 2 || size+2 > len(rest) {
			return refuse("the JPEG is damaged")
		}
		rest = rest[2+size:]
		if marker == 0xda { // The picture follows.
			break
		}
	}
	if !bytes.Contains(rest, []byte{0xff, 0xd9}) {
		return refuse("the JPEG is incomplete")
	}
	return nil
}

// walkGIF checks the blocks of a GIF, and that nothing follows the last.
func walkGIF(content []byte) error {
	damaged := refuse("the GIF is damaged, or something follows its end")
	if len(content) < 14 {
		return damaged
	}
	rest := skipColors(content[13:], content[10])
	for {
		if len(rest) == 0 {
			return damaged
		}
		switch rest[0] {
		case 0x3b: // The end.
			if len(rest) > 1 {
				return damaged
			}
			return nil
		case 0x21: // An extension.
			if len(rest) < 2 {
				return damaged
			}
			rest = skipBlocks(rest[2:])
		case 0x2c: // A picture.
			if len(rest) < 10 {
				return damaged
			}
			rest = skipColors(rest[10:], rest[9])
			if len(rest) == 0 {
				return damaged
			}
			rest = skipBlocks(rest[1:])
		default:
			return damaged
		}
	}
}

// skipColors skips a table of colors, where the flags say that there is one.
func skipColors(rest []byte, flags byte) []byte {
	if flags&0x80 == 0 {
		return rest
	}
	return rest[min(len(rest), 3<<(flags&7+1)):]
}

// skipBlocks skips blocks of data until the empty one.
func skipBlocks(rest []byte) []byte {
	for len(rest) > 0 {
		size := int(rest[0])
		rest = rest[min(len(rest), 1+size):]
		if size == 0 {
			return rest
		}
	}
	return nil
}

// walkWebP checks the size of a WebP, and reads that of its picture from the first chunk.
func walkWebP(content []byte) (width, height int, err error) {
	damaged := refuse("the WebP is damaged, or something follows its end")
	if len(content) < 30 || int64(binary.LittleEndian.Uint32(content[4:]))+8 != int64(len(content)) {
		return 0, 0, damaged
	}
	data := content[20:]
	switch string(content[12:16]) {
	case "VP8X":
		return 1 + int(uint24(data[4:])), 1 + int(uint24(data[7:])), nil
	case "VP8L":
		if data[0] != 0x2f {
			return 0, 0, damaged
		}
		bits := binary.LittleEndian.Uint32(data[1:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff), nil
	case "VP8 ":
		if !bytes.Equal(data[3:6], []byte{0x9d, 0x01, 0x2a}) {
			return 0, 0, damaged
		}
		return int(binary.LittleEndian.Uint16(data[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(data[8:]) & 0x3fff), nil
	}
	return 0, 0, damaged
}

func uint24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }
