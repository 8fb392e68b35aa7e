//! Small pictures in PNG's format, for a library whose source brings none.

/// What begins every picture.
const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', 13, 10, 26, 10];

/// One picture of each kind: grey, colours, a palette, with transparency, of 16 bits, interlaced, with texts.
pub fn all() -> Vec<Vec<u8>> {
    let header = |depth, kind, interlaced| vec![0, 0, 0, 3, 0, 0, 0, 2, depth, kind, 0, 0, interlaced];
    let rows = |n_bytes: usize| -> Vec<u8> {
        (0..2u8)
            .flat_map(|row| [row].into_iter().chain((0..n_bytes).map(move |at| (at * 40) as u8 + row)))
            .collect()
    };
    let picture = |header: Vec<u8>, between: &[(&[u8; 4], &[u8])], pixels: &[u8]| {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend(chunk(b"IHDR", &header));
        for (kind, content) in between {
            bytes.extend(chunk(kind, content));
        }
        bytes.extend(chunk(b"IDAT", &stored(pixels)));
        bytes.extend(chunk(b"IEND", &[]));
        bytes
    };
    vec![
        picture(header(8, 0, 0), &[], &rows(3)),
        picture(header(1, 0, 0), &[(b"gAMA", &[0, 1, 134, 160])], &rows(1)),
        picture(header(8, 2, 0), &[(b"tRNS", &[0, 1, 0, 2, 0, 3])], &rows(9)),
        picture(header(16, 0, 0), &[(b"bKGD", &[0, 1])], &rows(6)),
        picture(
            header(2, 3, 0),
            &[(b"PLTE", &[1, 2, 3, 40, 50, 60, 7, 8, 9]), (b"tRNS", &[5, 255])],
            &[0, 0x18, 1, 0x24],
        ),
        picture(header(8, 4, 0), &[(b"tEXt", b"Title\0small")], &rows(6)),
        picture(
            header(8, 6, 0),
            &[(b"tIME", &[7, 232, 2, 29, 12, 30, 1]), (b"pHYs", &[0, 0, 11, 19, 0, 0, 11, 19, 1])],
            &rows(12),
        ),
        // Passes 1, 4, 6 and 7 of a picture of 3 by 2 have pixels.
        picture(header(8, 0, 1), &[], &[0, 1, 0, 2, 0, 3, 1, 4, 5, 6]),
    ]
}

/// Length, kind, content and checksum.
fn chunk(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let mut bytes = (content.len() as u32).to_be_bytes().to_vec();
    bytes.extend(kind);
    bytes.extend(content);
    let checksum = crc32(&bytes[4..]);
    bytes.extend(checksum.to_be_bytes());
    bytes
}

/// In zlib's format, not compressed.
fn stored(content: &[u8]) -> Vec<u8> {
    let length = content.len() as u16;
    let mut bytes = vec![0x78, 0x01, 1];
    bytes.extend(length.to_le_bytes());
    bytes.extend((!length).to_le_bytes());
    bytes.extend(content);
    bytes.extend(adler32(content).to_be_bytes());
    bytes
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg()))
    })
}

fn adler32(bytes: &[u8]) -> u32 {
    let (low, high) = bytes.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65521;
        (low, (high + low) % 65521)
    });
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_formats() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn pictures_are_all_different() {
        let mut pictures = all();
        let n_pictures = pictures.len();
        pictures.sort();
        pictures.dedup();
        assert_eq!(pictures.len(), n_pictures);
    }
}
